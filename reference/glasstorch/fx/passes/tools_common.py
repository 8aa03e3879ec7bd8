"""In which order can the nodes of a graph run, and what does a node call?

Mirrors: torch/fx/passes/tools_common.py
Differs: a node's target is named as everywhere else.
"""

from __future__ import annotations

import heapq
import operator as py
from collections.abc import Mapping
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.fx._names import at, qualified_name
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.nn.modules.module import Module

__all__ = ["get_node_target", "is_node_output_tensor", "legalize_graph", "stable_topological_sort"]

NodeList = list[Node]
NodeSet = set[Node]
CALLABLE_NODE_OPS: Final = frozenset(("call_module", "call_function", "call_method"))

# What is done with sizes, and what checks them.
ARITHMETIC: Final = (
    py.add, py.mul, py.sub, py.floordiv, py.truediv, py.mod, py.le, py.lt, py.ge, py.gt, py.eq, py.ne,
)  # fmt: skip
CHECKS: Final = (
    "ops.aten.sym_constrain_range.default", "ops.aten.sym_constrain_range_for_size.default",
    "ops.aten._assert_async.msg", "ops.aten.scalar_tensor.default", "ops.aten._assert_scalar.default",
)  # fmt: skip


def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """The name of what a node calls: of a function its own, of a submodule its class's, of a method the method's."""
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"Expect op types of {', '.join(sorted(CALLABLE_NODE_OPS))}, but found {node.op}")
    if node.op == "call_method":
        return str(node.target)
    if node.op == "call_function":
        return qualified_name(node.target)
    module = submodules[node.target]
    return qualified_name(getattr(module, "_base_class_origin", type(module)))


def is_node_output_tensor(node: Node) -> bool:
    """Whether a node's result is a tensor, as `ShapeProp` has noted it."""
    kind = node.meta.get("type")
    return kind is not None and issubclass(kind, Tensor)


def legalize_graph(gm: GraphModule) -> GraphModule:
    """Order the nodes so that each comes after its inputs, those first that were ready first.

    What computes with sizes, and what checks them, is taken as soon as it is ready.

    The module gets a new graph, and is returned. RuntimeError is raised if the nodes depend on each other in a cycle.
    """
    early = {*ARITHMETIC, *filter(None, map(at, CHECKS))}
    return _sorted(gm, RuntimeError, lambda node, turn: -turn if node.target in early else turn)


def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """Order the nodes so that each comes after its inputs, and otherwise as they stand.

    The module gets a new graph, and is returned. AssertionError is raised if the nodes depend on each other in a cycle.
    """
    places = {node: place for place, node in enumerate(gm.graph.nodes)}
    return _sorted(gm, AssertionError, lambda node, turn: places[node])


def _sorted(gm: GraphModule, refusal: type[Exception], rank: Any) -> GraphModule:
    """Take ready nodes, the one of the lowest rank first, which may depend on when it became ready."""
    missing = {node: len(node.all_input_nodes) for node in gm.graph.nodes}
    turn = 0
    ready: list[tuple[int, Node]] = []
    for node, count in missing.items():
        if count == 0:
            turn += 1
            heapq.heappush(ready, (rank(node, turn), node))
    copies: dict[Node, Node] = {}
    graph = Graph()
    while ready:
        _, node = heapq.heappop(ready)
        copies[node] = graph.node_copy(node, lambda source: copies[source])
        for user in node.users:
            missing[user] -= 1
            if missing[user] == 0:
                turn += 1
                heapq.heappush(ready, (rank(user, turn), user))
    if len(graph.nodes) < len(gm.graph.nodes):
        left = [node for node, count in missing.items() if count]
        raise refusal(f"Input graph has cycles, unable to add {left}")
    graph._codegen = gm.graph._codegen
    gm.graph = graph
    return gm
