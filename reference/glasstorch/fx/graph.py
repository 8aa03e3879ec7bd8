"""How is a captured program kept, changed and checked?

Mirrors: torch/fx/graph.py (Graph)
Differs: how the program is written as code is in _codegen.py. Sizes with symbols cannot be materialized as nodes.

A graph is a linked list of nodes in the order in which they run. New nodes go to an insertion point, which is the end
until `inserting_before` or `inserting_after` moves it.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.fx._codegen import CodeGen as CodeGen
from glasstorch.fx._codegen import PythonCode as PythonCode
from glasstorch.fx._codegen import TransformCode
from glasstorch.fx._custom_builtins import _register_custom_builtin as _register_custom_builtin
from glasstorch.fx._lint import check
from glasstorch.fx._names import Namespace, at, target_to_str
from glasstorch.fx._operator_texts import IN_PLACE, OPERATORS, REFLECTABLE, by_name
from glasstorch.fx._pytree_codegen import _BoxedCodeGen as _BoxedCodeGen
from glasstorch.fx._pytree_codegen import _PyTreeCodeGen as _PyTreeCodeGen
from glasstorch.fx._pytree_codegen import _PyTreeInfo as _PyTreeInfo
from glasstorch.fx.node import Argument, Node, Target, map_arg
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter

__all__ = ["CodeGen", "Graph", "PythonCode"]

reflectable_magic_methods = by_name(REFLECTABLE)
magic_methods = by_name(OPERATORS)
inplace_methods = by_name(IN_PLACE)

NO_SUCH_ATTRIBUTE = (
    "Attempted to insert a get_attr Node with no underlying reference in the owning GraphModule! Call "
    "GraphModule.add_submodule to add the necessary submodule, GraphModule.add_parameter to add the necessary "
    "Parameter, or nn.Module.register_buffer to add the necessary buffer"
)
NO_SUCH_MODULE = (
    "Attempted to insert a call_module Node with no underlying reference in the owning GraphModule! Call "
    "GraphModule.add_submodule to add the necessary submodule"
)


class Graph:
    """A program as a list of nodes: inputs, calls, and one output, which is the last node.

    `owning_module` is the `GraphModule` whose `forward` is generated from the graph, if there is one.

    >>> import glasstorch as torch
    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(torch.relu, (x,)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        return relu
    """

    def __init__(
        self,
        owning_module: Any = None,
        tracer_cls: type[Any] | None = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._nodes_by_target = NodesByTarget()
        self._owning_module = owning_module
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = Namespace()
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict[str, Any] = {}

    # What is in it -----------------------------------------------------------------------------------------------

    @property
    def owning_module(self) -> Any:
        """The `GraphModule` whose `forward` is generated from this graph, or None."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: Any) -> None:
        self._owning_module = mod

    @property
    def nodes(self) -> NodeList:
        """The nodes in the order in which they run. The graph may be changed while they are iterated over."""
        return NodeList(self)

    def output_node(self) -> Node:
        """The last node, which must be the output."""
        last: Node = self._root._prev
        if last.op != "output":
            raise AssertionError(f"Expected output node, got op={last.op}")
        return last

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Any]:
        """The nodes of a kind that call or fetch `target`, without a walk through the whole graph.

        For `call_function`, the target must be given. They come in the graph's order unless `sort` is false.
        """
        found = self._nodes_by_target.find(op, target)
        return sorted(found) if sort else found

    def __str__(self) -> str:
        return "graph():" + "".join(f"\n    {node.format_node()}" for node in self.nodes)

    def print_tabular(self) -> None:
        """Print a table of the nodes, a line for each; needs the package `tabulate`."""
        try:
            from tabulate import tabulate  # type: ignore[import-untyped]
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, which could not be found on this machine. "
                "Run `pip install tabulate` to install the library."
            )
            raise
        rows = [[node.op, node.name, node.target, node.args, node.kwargs] for node in self.nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    def lint(self) -> None:
        """Raise an error if the graph is not well formed.

        Its nodes must belong to it, have different names, and come after their inputs; the owning module must have
        what they fetch and call.
        """
        check(self)

    # Adding nodes ------------------------------------------------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Make a node and insert it at the insertion point.

        `name` is a proposal: a number is added to it if it is taken. Without it, the target proposes one.
        """
        if args and not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if kwargs and not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        name = self._graph_namespace.create_name(candidate, None)
        node = Node(self, name, op, target, args or (), kwargs or {}, type_expr)
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(node)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._nodes_by_target.insert(node)
        self._len += 1
        return node

    _target_to_str = staticmethod(target_to_str)

    def placeholder(
        self, name: str, type_expr: Any | None = None, default_value: Any = inspect.Signature.empty
    ) -> Node:
        """Insert an input. Without a default value, the input must be given."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any | None = None) -> Node:
        """Insert the fetching of an attribute of the module, such as `"layer1.weight"`.

        Warns if the owning module has no parameter, buffer or submodule of this path.
        """
        if self.owning_module is not None and not _has_attribute(self.owning_module, qualified_name):
            warnings.warn(NO_SUCH_ATTRIBUTE, stacklevel=2)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Insert a call of a submodule, such as `"layer1"`."""
        if self.owning_module is not None and self.owning_module.get_submodule(module_name) is None:
            warnings.warn(NO_SUCH_MODULE, stacklevel=2)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any | None = None,
    ) -> Node:
        """Insert a call of a method of `args[0]`."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any | None = None,
        name: str | None = None,
    ) -> Node:
        """Insert a call of a function: an operator, or any Python function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Argument, type_expr: Any | None = None) -> Node:
        """Insert the return of a value: a node, a plain value, or a container of both."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def create_size_node(self, tensor_node: Node, dim: int) -> Node:
        """Insert a call of `aten.sym_size.int`: the size of a dimension of a node's result."""
        return self._metadata_node("sym_size", (tensor_node, dim), lambda value: value.size(dim))

    def create_stride_node(self, tensor_node: Node, dim: int) -> Node:
        """Insert a call of `aten.sym_stride.int`: the stride of a dimension of a node's result, in elements."""
        return self._metadata_node("sym_stride", (tensor_node, dim), lambda value: value.stride(dim))

    def create_storage_offset_node(self, tensor_node: Node) -> Node:
        """Insert a call of `aten.sym_storage_offset`: where a node's result begins in its storage, in elements."""
        return self._metadata_node("sym_storage_offset", (tensor_node,), lambda value: value.storage_offset())

    def _metadata_node(self, name: str, args: tuple[Any, ...], of: Callable[[Any], Any]) -> Node:
        node = self.call_function(getattr(at(f"ops.aten.{name}"), "int" if len(args) > 1 else "default"), args)
        key = "val" if "val" in args[0].meta or "example_value" not in args[0].meta else "example_value"
        if (value := args[0].meta.get(key)) is not None:
            node.meta[key] = of(value)
        return node

    def inserting_before(self, n: Node | None = None) -> InsertPoint:
        """Insert new nodes before `n`, or before all nodes; as a context manager, until it is left."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> InsertPoint:
        """Insert new nodes after `n`, or after all nodes; as a context manager, until it is left.

        Each goes directly after `n`, so several come out in reverse.
        """
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return InsertPoint(self, n.append)

    # Copying and removing ----------------------------------------------------------------------------------------

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x) -> Node:
        """Insert a copy of a node of another graph; `arg_transform` maps that graph's nodes to this one's."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        if not isinstance(args, tuple):
            raise AssertionError(f"Expected args to be tuple, got {type(args)}")
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        return copied

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Insert copies of all nodes of another graph but its output, and return what its output would return.

        `val_map` is filled with the copies. Nodes that it has at the start are not copied, but replaced by its values.
        With `return_output_node`, a pair of the result and `g`'s output node is returned; None if `g` has no output.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict[Any, Any] | None = None) -> Graph:
        copied = Graph(tracer_cls=self._tracer_cls)
        returned = copied.graph_copy(self, {} if memo is None else memo, return_output_node=True)
        copied._codegen = copy.deepcopy(self._codegen)
        if returned is not None:
            result, old = returned
            copied.output(result, type_expr=old.type).meta = copy.copy(old.meta)
        return copied

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that has no users; RuntimeError if it has any."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} "
                f"users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        self._nodes_by_target.remove(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True  # an iterator may still hold it
        self._len -= 1
        to_erase._update_args_kwargs(map_arg(to_erase.args, lambda n: None), map_arg(to_erase.kwargs, lambda n: None))

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove all nodes whose results nothing uses, and return whether there were any.

        Nodes with side effects stay: those of which `is_impure_node` is true, or `Node.is_impure` without it. Which
        functions have side effects is known only of operators and of a few others, so a graph with calls of other
        functions that have them must say so itself. Graphs of submodules that `get_attr` fetches are treated, too.
        """
        self.lint()  # the walk below is right only if every node comes after its inputs
        is_impure = is_impure_node or Node.is_impure
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not is_impure(node):
                self.erase_node(node)
                changed = True
        if self.owning_module is not None:
            fetched = {node.target for node in self.find_nodes(op="get_attr")}
            for name, child in self.owning_module.named_children():
                if name in fetched and isinstance(getattr(child, "graph", None), Graph):
                    changed |= child.graph.eliminate_dead_code()
                    child.recompile()
        return changed

    def _clear_nodes(self) -> None:
        for node in reversed(self.nodes):
            node.meta.clear()
            self.erase_node(node)

    # Code --------------------------------------------------------------------------------------------------------

    def process_inputs(self, *args: Any) -> Any:
        """The values of the placeholders, from the arguments of the generated function."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What the generated function returns, from the value of the output node."""
        return self._codegen.process_outputs(out)

    def python_code(
        self,
        root_module: str,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        expanded_def: bool = False,
        record_func: bool = False,
        additional_meta: list[str] | None = None,
    ) -> PythonCode:
        """The graph as the source of a Python function, with the objects that the source refers to.

        `root_module` is the name by which the code reaches the module, usually "self". A verbose source has types of
        results and the lines that recorded them, as comments; the other arguments say what else it shows.
        """
        namespace = Namespace()

        def named(node: Node) -> str:
            return namespace.create_name(node.name, node)

        shown = {node: node._repr_fn for node in self.nodes}
        try:
            for node in self.nodes:
                node._repr_fn = named
            return self._codegen._gen_python_code(
                self.nodes,
                root_module,
                namespace,
                verbose=verbose,
                include_stride=include_stride,
                include_device=include_device,
                colored=colored,
                expanded_def=expanded_def,
                record_func=record_func,
                additional_meta=additional_meta,
            )
        finally:
            for node, function in shown.items():
                node._repr_fn = function

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let another generator write the code."""
        self._codegen = codegen

    def on_generate_code(
        self, make_transformer: Callable[[TransformCode | None], TransformCode]
    ) -> AbstractContextManager[None]:
        """Let a function change the lines of the body whenever code is generated.

        `make_transformer` gets the function that is in place, or None, and returns the new one, which takes and returns
        a list of lines. Leaving the returned context manager, if it was entered, restores the former function.
        """
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextmanager
        def restoring() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return restoring()


class NodeList:
    """The nodes of a graph, forwards or backwards: iterable any number of times, with a length."""

    def __init__(self, graph: Graph, direction: Literal["_prev", "_next"] = "_next") -> None:
        if direction not in ("_next", "_prev"):
            raise AssertionError(f"direction must be '_next' or '_prev', got {direction}")
        self.graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Any]:
        root, direction = self.graph._root, self.direction
        node = getattr(root, direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, direction)

    def __reversed__(self) -> Iterator[Any]:
        return iter(NodeList(self.graph, "_next" if self.direction == "_prev" else "_prev"))


_node_list = NodeList


class InsertPoint:
    """Where new nodes go; leaving it as a context manager restores the former place."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self._before, graph._insert = graph._insert, insert

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None:
        self.graph._insert = self._before


class NodesByTarget:
    """An index of a graph's nodes: by kind, and by function for calls of functions."""

    def __init__(self) -> None:
        self._table: dict[tuple[str, Any], dict[Node, None]] = defaultdict(dict)

    def _place(self, node: Node) -> dict[Node, None]:
        return self._table[(node.op, node.target if node.op == "call_function" else None)]

    def __contains__(self, node: Node) -> bool:
        return node in self._place(node)

    def insert(self, node: Node) -> None:
        """Add a node."""
        self._place(node)[node] = None

    def remove(self, node: Node) -> None:
        """Take a node out."""
        del self._place(node)[node]

    @contextmanager
    def moving(self, node: Node) -> Iterator[None]:
        """While the node's kind or target changes, keep its place up to date."""
        indexed = node in self
        if indexed:
            self.remove(node)
        yield
        if indexed:
            self.insert(node)

    def find(self, op: str, target: Target | None) -> list[Any]:
        """The nodes of a kind and target, in no particular order."""
        if op == "call_function":
            if target is None:
                raise AssertionError("target must not be None for call_function op")
            return list(self._table[(op, target)])
        return [node for node in self._table[(op, None)] if target is None or node.target == target]


def _has_attribute(module: Any, qualified_name: str) -> bool:
    path, _, name = qualified_name.rpartition(".")
    try:
        owner = module.get_submodule(path)
    except AttributeError:
        warnings.warn(f"Failed to fetch module {path}!", stacklevel=3)
        return False
    value = getattr(owner, name, None)
    return isinstance(value, Module | Parameter) or name in owner._buffers


__getattr__ = refuse_unknown_names(__name__)
