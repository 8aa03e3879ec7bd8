"""How does a graph of operators become loops over buffers?

Mirrors: torch/_inductor/graph.py (GraphLowering.run_node, placeholder, output)
Differs: a view is a place in a buffer as long as it has strides, and what has none the library's kernel copies. What
    has no loops (a product of matrices, an index, random numbers) is an extern: the library's own kernel.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.compiler.bisecting import applies
from glasstorch.compiler.loops.build import Builder
from glasstorch.compiler.loops.composed import COMPOSED
from glasstorch.compiler.loops.folding import constants_of, is_pure
from glasstorch.compiler.loops.ir import STORED, Extern, Item, Loop, View
from glasstorch.compiler.loops.pointwise import is_pointwise, pointwise
from glasstorch.compiler.loops.reductions import WAYS, reduce
from glasstorch.core.layout import strided
from glasstorch.core.pytree import tree_leaves, tree_map
from glasstorch.core.symbols import SymInt, is_symbol
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.jit.codegen.program import UnfusableError


class Unlowered(Exception):
    """A graph that is run as it is, node by node; the message says why."""


class Lowered(NamedTuple):
    """Loops and externs in the order in which they may run.

    A value is a view, a tuple of values, or what is no tensor; of a tensor without loops it is `Opaque`.
    """

    items: list[Item]
    inputs: list[tuple[str, Any]]
    constants: dict[str, tuple[Tensor, Any]]  # by node's name, the tensor and the value
    outputs: Any
    values: dict[Node, Any]
    why: list[str]  # for each operator without loops, the reason


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that loops cannot read: a tensor of another device, layout or dtype, or no tensor at all."""

    name: str


def lower(module: GraphModule) -> Lowered:
    """The loops of a graph that make_fx recorded with fake tensors. Unlowered if they cannot be made."""
    for node in module.graph.nodes:
        for like in tree_leaves(node.meta.get("val")):
            if isinstance(like, Tensor) and (like.is_complex() or like.layout is not strided):
                raise Unlowered(f"{node.name} is complex or sparse")
    build = Builder()
    lowering = _Lowering(build, module)
    for node in module.graph.nodes:
        build.node = node
        lowering.values[node] = lowering.value_of(node)
    output = module.graph.output_node().args[0]
    outputs = tree_map(lambda one: lowering.values[one] if isinstance(one, Node) else one, output, is_leaf=_is_node)
    return Lowered(
        _needed(build.items, outputs), lowering.inputs, lowering.constants, outputs, lowering.values, lowering.why
    )


def _needed(items: Sequence[Item], outputs: Any) -> list[Item]:
    """The loops and externs whose results are read, and the externs that may have effects of their own."""
    read = {leaf.buffer for leaf in tree_leaves(outputs) if isinstance(leaf, View)}
    named = any(isinstance(leaf, Opaque) for leaf in tree_leaves(outputs))
    left: list[Item] = []
    for item in reversed(items):
        if isinstance(item, Loop):
            if item.write.buffer not in read:
                continue
            read.update(access.buffer for access in item.reads)
        else:
            target = item.node.target
            whole = all(isinstance(leaf, View) for leaf in tree_leaves(item.value))
            pure = isinstance(target, OpOverload) and is_pure(target) and whole
            if pure and not named and read.isdisjoint(buffer for buffer, _ in item.gives):
                continue
            read.update(item.reads)
        left.append(item)
    return left[::-1]


def _is_node(value: Any) -> bool:
    return isinstance(value, Node)


class _Lowering:
    def __init__(self, build: Builder, module: GraphModule) -> None:
        self.build, self.module = build, module
        self.values: dict[Node, Any] = {}
        self.inputs: list[tuple[str, Any]] = []
        self.constants: dict[str, tuple[Tensor, Any]] = {}
        self.why: list[str] = []
        self.folded = constants_of(module.graph)

    def value_of(self, node: Node) -> Any:
        if node.op == "placeholder":
            like = node.meta.get("val")
            value = self._whole(node, like, "input") if isinstance(like, Tensor) else Opaque(node.name)
            self.inputs.append((node.name, value))
            return value
        if node.op == "get_attr":
            found = getattr(self.module, str(node.target))
            if not isinstance(found, Tensor):
                raise Unlowered(f"the constant {node.target} is a {type(found).__name__}")
            return self._constant(node, found)
        if node.op == "output":
            return None
        if is_symbol(like := node.meta.get("val")) and node.op == "call_function":
            if not isinstance(like, SymInt):
                raise Unlowered(f"{node.name} is a symbol, and no int")
            return like
        if node.target is operator.getitem:
            return self.values[node.args[0]][node.args[1]]
        if node.op != "call_function" or not isinstance(node.target, OpOverload):
            raise Unlowered(f"{node.format_node()} is no operator")
        if node in self.folded:
            return self._constant(node, self.folded[node])
        return self._operator(node, node.target)

    def _constant(self, node: Node, found: Tensor) -> View | Opaque:
        value = self._whole(node, found, "constant")
        self.constants[node.name] = (found, value)
        return value

    def _whole(self, node: Node, like: Tensor, made_by: str) -> View | Opaque:
        """The view of all of a tensor that loops are given."""
        if not _has_loops(like):
            return Opaque(node.name)
        self.build.device = str(like.device)
        return self.build.buffer(like.dtype, tuple(like.shape), like.stride(), made_by).view()

    def _operator(self, node: Node, target: OpOverload) -> Any:
        if target._schema.is_mutable:
            raise Unlowered(f"{target} writes to its arguments")
        like = node.meta.get("val")
        self.build.device = next((str(one.device) for one in tree_leaves(like) if isinstance(one, Tensor)), "cpu")
        arguments = [self._known(value) for value in _in_order(target, node)]
        name = target.name.removeprefix("aten::")
        if target.namespace == "aten" and applies("lowerings", node.name):
            count, buffers = len(self.build.items), len(self.build.buffers)
            try:
                if (value := self._loops(name, target, arguments, like)) is not None:
                    return value
                self.why.append(f"{node.name}: {target} has no loops")
            except UnfusableError as error:
                self.why.append(f"{node.name}: {target} is not made a loop: {error}")
            del self.build.items[count:], self.build.buffers[buffers:]
        return self._extern(node, like)

    def _known(self, value: Any) -> Any:
        if isinstance(value, Node):
            return self.values[value]
        if isinstance(value, list | tuple):
            return type(value)(self._known(one) for one in value)
        return value

    def _loops(self, name: str, target: OpOverload, arguments: Sequence[Any], like: Any) -> Any:
        """The value of an operator that is a view or has loops; None for any other."""
        sees = (target.is_view or name == "_unsafe_view") and isinstance(arguments[0], View)
        given = () if sees else tree_leaves(list(arguments))
        if any(isinstance(one, Opaque) for one in given) or not all(map(_has_loops, tree_leaves(like))):
            raise UnfusableError("a value that loops cannot hold")
        if any(map(is_symbol, given)):
            raise UnfusableError("a number that is a symbol")
        if sees:
            return self._seen(arguments[0], like)
        if is_pointwise(name):
            return pointwise(self.build, name, target, arguments, like)
        if name in WAYS:
            return self._laid_out(reduce(self.build, name, arguments, like), like)
        if name in COMPOSED:
            return self._laid_out(COMPOSED[name](self.build, like, *arguments), like)
        return None

    def _seen(self, source: View, like: Any) -> Any:
        """What a view operator shows of a value; None if it does not show that memory as the same dtype."""
        if isinstance(like, list | tuple):
            shown = [self._seen(source, one) for one in like]
            return None if None in shown else shown
        node = self.build.node
        assert node is not None
        before = node.args[0].meta.get("val")
        if before is None:  # a constant
            before = self.constants[node.args[0].name][0]
        if like.dtype is not source.dtype or like.untyped_storage()._cdata != before.untyped_storage()._cdata:
            return None
        return View(source.buffer, tuple(like.shape), like.stride(), source.offset + _offset(like) - _offset(before))

    def _laid_out(self, value: Any, like: Any) -> Any:
        """A value in the layout of the tensor that it stands for, which views of it depend on."""
        if isinstance(value, list | tuple):
            return [self._laid_out(*pair) for pair in zip(value, like, strict=True)]
        if value is None:
            return None
        assert value.sizes == tuple(like.shape), f"{value} stands for {like}"
        assert value.dtype is like.dtype, f"{value} stands for {like}"
        if same_strides(value.sizes, value.strides, like.stride()):
            return value
        return pointwise(self.build, "clone", None, [value], like)

    def _extern(self, node: Node, like: Any) -> Any:
        item = Extern(node)
        known = [self.values[source] for source in node.all_input_nodes]
        item.reads = [one.buffer for one in tree_leaves(known, is_leaf=_is_view) if isinstance(one, View)]
        item.value = self._given(item, node.name, like)
        self.build.items.append(item)
        return item.value

    def _given(self, item: Extern, name: str, like: Any) -> Any:
        """What an extern gives: of tensors, buffers that are made of it."""
        if isinstance(like, list | tuple):
            return [self._given(item, f"{name}[{i}]", one) for i, one in enumerate(like)]
        if not isinstance(like, Tensor) or not _has_loops(like):
            return Opaque(name)
        view = self.build.buffer(like.dtype, tuple(like.shape), like.stride(), "extern").view()
        item.gives.append((view.buffer, name))
        return view


def _in_order(target: OpOverload, node: Node) -> list[Any]:
    """A node's arguments in the order of the schema, defaults filled in."""
    declared = target._schema.arguments
    rest = [node.kwargs.get(one.name, one.default_value) for one in declared[len(node.args) :]]
    return [*node.args, *rest]


def _is_view(value: Any) -> bool:
    return isinstance(value, View)


def _has_loops(like: Any) -> bool:
    """Whether loops can read a tensor, or what stands in its place is none."""
    if not isinstance(like, Tensor):
        return True
    plain = like.layout is strided and like.device.type in ("cpu", "cuda") and not like.is_conj() and not like.is_neg()
    return plain and like.dtype in STORED


def _offset(tensor: Tensor) -> Any:
    return tensor.storage_offset()


def same_strides(sizes: Sequence[int], one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether strides reach the same elements: those of dimensions with one element reach none."""
    return 0 in sizes or all(a == b for size, a, b in zip(sizes, one, other, strict=True) if size > 1)
