"""What is one step of a captured program?

Mirrors: torch/fx/node.py, torch/csrc/fx/node.cpp
Differs: which functions have side effects is in _side_effects.py, how nodes print in _names.py. A node checks its
    arguments when it is made; there is no C++ base class.

A node is a call: what kind (`op`), of what (`target`), with which arguments. Arguments that are nodes are edges, and
both ends know them: a node lists its inputs, and each input counts the node among its `users`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.fx import _side_effects, operator_schemas
from glasstorch.fx._names import format_argument, pretty_target, qualified_name, type_repr
from glasstorch.fx._side_effects import _side_effectful_functions as _side_effectful_functions
from glasstorch.fx._side_effects import has_side_effect as has_side_effect
from glasstorch.fx.immutable_collections import immutable_dict, immutable_list
from glasstorch.python_forms.tensor_types import typename

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

Graph = Any  # the class that holds nodes, which is built on this file
Target = Any  # a function, for `call_function`; a dotted name for everything else
Argument = Any  # a node, a plain value, or a container of both

_get_qualified_name = qualified_name  # by which PyTorch's programs ask for it

LEGAL_OPS: Final = ("call_function", "call_method", "get_attr", "call_module", "placeholder", "output")


class Node:
    """One operation of a `Graph`. What it means depends on `op`:

    - `placeholder` is an input of the program: `target` is its name, `args` holds its default value if it has one.
    - `get_attr` fetches a parameter, buffer or other attribute: `target` is the dotted path from the module.
    - `call_function` calls `target`, a Python function, with `args` and `kwargs`.
    - `call_module` calls the submodule at the dotted path `target`; `args` does not contain the module.
    - `call_method` calls the method named `target` of `args[0]` with the other arguments.
    - `output` returns `args[0]`.

    Nodes are made by the methods of `Graph` and compared by identity; `<` compares their places in the graph. `meta`
    holds what passes note about a node, and is copied with it. Assigning to `args`, `kwargs`, `op`, `target` or `name`
    keeps the graph's books in order.
    """

    graph: Graph
    users: dict[Node, None]
    type: Any | None
    meta: dict[str, Any]

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any | None = None,
    ) -> None:
        _check_target(graph, name, op, target)
        self.graph = graph
        self._name, self._op, self._target = name, op, target
        self.type = return_type
        self.users = {}
        self.meta = {}
        self._repr_fn: Callable[[Node], str] | None = None
        self._input_nodes: dict[Node, None] = {}
        self._args: tuple[Argument, ...] = ()
        self._kwargs: dict[str, Argument] = immutable_dict()
        self._erased = False
        self._prev = self._next = self
        self._sort_key: tuple[int, ...] = ()
        self._update_args_kwargs(args, kwargs)

    def __repr__(self) -> str:
        return self._name if self._repr_fn is None else self._repr_fn(self)

    # What it is ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the result in the generated code; no other node of the graph has it."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        for hook in _replace_hooks(self.graph):
            for user in self.users:
                hook(old=self, new=name, user=user)
        self._name = name

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace.rename(self, self.name)

    @property
    def op(self) -> str:
        """The kind of operation, one of six."""
        return self._op

    @op.setter
    def op(self, op: str) -> None:
        with self.graph._nodes_by_target.moving(self):
            self._op = op

    @property
    def target(self) -> Target:
        """What is called or fetched: a function for `call_function`, a name for the other kinds."""
        return self._target

    @target.setter
    def target(self, target: Target) -> None:
        with self.graph._nodes_by_target.moving(self):
            self._target = target

    @property
    def stack_trace(self) -> str | None:
        """The Python stack that recorded the node, innermost frame last, if the tracer kept it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    # Its arguments -----------------------------------------------------------------------------------------------

    @property
    def args(self) -> tuple[Argument, ...]:
        """The positional arguments. Assigning to them updates the users of the old and new inputs."""
        return self._args

    @args.setter
    def args(self, args: tuple[Argument, ...]) -> None:
        self._update_args_kwargs(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The keyword arguments. Assigning to them updates the users of the old and new inputs."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Argument]) -> None:
        self._update_args_kwargs(self._args, kwargs)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once, in the order in which they appear."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replace the positional argument at `idx`."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Insert a positional argument before the one at `idx`; `idx` may be the number of arguments."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and {len(self.args)}, got {idx}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Set the keyword argument `key`."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use `new_input` wherever the arguments have `old_input`."""
        for hook in _replace_hooks(self.graph):
            hook(old=old_input, new=new_input.name, user=self)
        self._replace_input_with(old_input, new_input)

    def _replace_input_with(self, old_input: Node, new_input: Argument) -> None:
        def replaced(node: Node) -> Argument:
            return new_input if node is old_input else node

        self._update_args_kwargs(map_arg(self._args, replaced), map_arg(self._kwargs, replaced))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] | None = None,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Let the users of this node use another one, and return those that were changed.

        `delete_user_cb(user)` says which users to change; without it, all are. With `propagate_meta`, this node's
        `meta` is copied to the new one, whose own must be empty.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), "
                    "but replace_with already has .meta keys"
                )
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def _update_args_kwargs(self, args: tuple[Argument, ...], kwargs: dict[str, Argument]) -> None:
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._input_nodes = {}

        def used(node: Argument) -> Argument:
            if isinstance(node, Node):
                self._input_nodes.setdefault(node)
                node.users.setdefault(self)
            return node

        self._args = map_aggregate(tuple(args), used)
        self._kwargs = map_aggregate(dict(kwargs), used)

    # Its place ---------------------------------------------------------------------------------------------------

    @property
    def next(self) -> Node:
        """The node after this one; the last one's is the root of the graph, whose `op` is "root"."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one; the first one's is the root of the graph."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move `x`, a node of the same graph, to just before this one."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x
        x._sort_key = between(before._sort_key, self._sort_key)

    def append(self, x: Node) -> None:
        """Move `x`, a node of the same graph, to just after this one."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def __lt__(self, other: Node) -> bool:
        return self._sort_key < other._sort_key

    def __gt__(self, other: Node) -> bool:
        return self._sort_key > other._sort_key

    def __le__(self, other: Node) -> bool:
        return self._sort_key <= other._sort_key

    def __ge__(self, other: Node) -> bool:
        return self._sort_key >= other._sort_key

    # What can be asked of it -------------------------------------------------------------------------------------

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the node must stay although nothing uses its result.

        Inputs and outputs must, and calls that write to an argument or have another effect. Drawing random numbers is
        an effect unless `impure_random` is false.
        """
        return _side_effects.is_impure(self, impure_random)

    def normalized_arguments(
        self,
        root: Any,
        arg_types: tuple[Any] | None = None,
        kwarg_types: dict[str, Any] | None = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> Any:
        """The arguments as the signature of what is called has them, defaults included.

        An `ArgsKwargsPair`, or None for a node that is not a call of a function or module, or whose signature does not
        decide. `root` is the module that submodules' paths start from.
        """
        if self.op == "call_function":
            return operator_schemas.normalize_function(
                self.target, self.args, self.kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
            )
        if self.op == "call_module":
            return operator_schemas.normalize_module(
                root, self.target, self.args, self.kwargs, normalize_to_only_use_kwargs
            )
        return None

    @staticmethod
    def _pretty_print_target(target: Target) -> str:
        return pretty_target(target)

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """The node as a line of the graph's text.

        The lists are for `Graph.__str__`: the return type is put into the second one.
        """
        uses = f"[num_users={len(self.users)}] = {self.op}[target={pretty_target(self.target)}]"
        typed = f"{type_repr(self.type)} " if self.type is not None else ""
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(self.target + (f": {type_repr(self.type)}" if self.type else ""))
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"%{self.name} : {typed}{uses}{default}"
        if self.op == "get_attr":
            return f"%{self.name} : {typed}{uses}"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_repr(self.type)}"
            return f"return {self.args[0]}"
        value = self.meta.get("val", self.meta.get("tensor_meta", self.meta.get("example_value")))
        if include_tensor_metadata and isinstance(value, Tensor):
            shape, strides = [*value.shape], [*value.stride()]
            typed = f'Tensor "{value.dtype.abbr}{shape}{strides}{value.device}"'
        arguments = f"(args = {format_argument(self.args)}, kwargs = {format_argument(self.kwargs)})"
        return f"%{self.name} : {typed}{uses}{arguments}"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _check_target(graph: Graph, name: str, op: str, target: Target) -> None:
    expected = "Callable" if op == "call_function" else "str"
    if op not in LEGAL_OPS and op != "root":
        raise AssertionError(f"op '{op}' is not in _legal_ops")
    if not (callable(target) if op == "call_function" else isinstance(target, str)):
        raise ValueError(
            f"Node [graph = {graph}, name = '{name}'] target {target} has type {typename(target)} "
            f"but a {expected} is expected"
        )


def _replace_hooks(graph: Graph) -> Iterable[Callable[..., object]]:
    return getattr(graph.owning_module, "_replace_hooks", None) or ()


def between(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    """A key that sorts after the first and before the second.

    Keys are tuples of ints, so there is always room for another one, and no other key has to change. The root, whose
    key is empty, is on both sides: whatever is put before it comes after the last node.

    >>> between((0,), ()), between((0,), (1,)), between((0,), (0, 0))
    ((1,), (0, 0), (0, -1))
    """
    if len(before) > len(after):
        return (*before[: len(after)], before[len(after)] + 1)
    if len(before) < len(after):
        return (*after[: len(before)], after[len(before)] - 1)
    return (*before, 0)


def map_aggregate(a: Argument, fn: Callable[[Argument], Argument]) -> Argument:
    """Containers made again with each value in them replaced by `fn(value)`; a value alone is replaced.

    Tuples, named tuples, lists, dicts and slices are containers. Lists and dicts become immutable ones.
    """
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict((key, map_aggregate(item, fn)) for key, item in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Argument, fn: Callable[[Node], Argument]) -> Argument:
    """Containers made again with each node in them replaced by `fn(node)`, and all else as it is."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda value: fn(value) if isinstance(value, Node) else value)


__getattr__ = refuse_unknown_names(__name__)
