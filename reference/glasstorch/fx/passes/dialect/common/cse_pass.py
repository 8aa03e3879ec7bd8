"""Which nodes compute what an earlier one has computed?

Mirrors: torch/fx/passes/dialect/common/cse_pass.py
Differs: which operators draw random numbers or write to an argument is read from their tags and schemas, so there are
    more than PyTorch lists. `x * 1` and `x * 1.0` are not the same. Inputs stay packed as they were.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from glasstorch.core.pytree import tree_flatten
from glasstorch.dispatch.tags import Tag
from glasstorch.fx._names import at
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.fx.passes.infra.pass_base import PassBase, PassResult
from glasstorch.operators.generated.registry import OPERATORS


@cache
def _banned() -> frozenset[Any]:
    packets = {at(f"ops.aten.{row.name.partition('.')[0]}") for row in OPERATORS} - {None}
    return frozenset(packet for packet in packets if any(map(_differs_each_time, _overloads(packet))))


def _overloads(packet: Any) -> list[Any]:
    return [getattr(packet, name) for name in packet.overloads()]


def _differs_each_time(overload: Any) -> bool:
    """Whether an operator draws random numbers, or writes to an argument other than `out`."""
    written = any(argument.is_write and not argument.is_out for argument in overload._schema.arguments)
    return written or Tag.nondeterministic_seeded in overload.tags


def get_CSE_banned_ops() -> set[Any]:
    """The operators whose calls are never the same: those that draw random numbers or write to an argument."""
    return set(_banned())


class CSEPass(PassBase):
    """Common subexpression elimination: of calls of the same function with the same arguments, one is kept.

    Calls of `banned_ops`, operators as `torch.ops.aten` has them, are all kept. The pass looks at nothing but the
    nodes and their arguments, so every function that has an effect must be among them. A module whose graph changes is
    another one; parameters are shared.
    """

    def __init__(self, banned_ops: set[Any] | None = None) -> None:
        self.banned_ops = set() if banned_ops is None else banned_ops
        super().__init__()

    def call(self, graph_module: GraphModule) -> PassResult:
        """The module without repeated calls."""
        graph = Graph()
        graph.set_codegen(graph_module.graph._codegen)
        copies: dict[Node, Node] = {}
        first: dict[Any, Node] = {}
        for node in graph_module.graph.nodes:
            packet = getattr(node.target, "overloadpacket", node.target)
            if node.op in ("placeholder", "get_attr", "output") or packet in self.banned_ops:
                copies[node] = graph.node_copy(node, copies.__getitem__)
                continue
            computed = _key(node, copies)
            if computed not in first:
                first[computed] = graph.node_copy(node, copies.__getitem__)
            copies[node] = first[computed]
        if len(graph.nodes) == len(graph_module.graph.nodes):
            return PassResult(graph_module, False)
        return PassResult(GraphModule(graph_module, graph), True)


def _key(node: Node, copies: dict[Node, Node]) -> tuple[Any, ...]:
    """What two nodes have in common if they compute the same."""
    leaves, spec = tree_flatten((node.args, node.kwargs))
    values = tuple((type(leaf), copies[leaf] if isinstance(leaf, Node) else leaf) for leaf in leaves)
    return node.op, node.target, str(spec), values
