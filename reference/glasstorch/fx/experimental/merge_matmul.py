"""How do several products with the same right side become one?

Mirrors: torch/fx/experimental/merge_matmul.py
Differs: the product uses the node that fetches a parameter for the first of the calls.

The left sides are stacked, multiplied at once, and the rows of the result are dealt out again:

    [A]         [A @ C]
    [B] @ C  =  [B @ C]
"""

from __future__ import annotations

import itertools
import operator
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.fx._names import at
from glasstorch.fx._symbolic_trace import symbolic_trace
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.fx.passes.tools_common import legalize_graph
from glasstorch.fx.proxy import Proxy
from glasstorch.nn.modules.module import Module


def split_result_tensors(result: Any, inputs: list[Tensor]) -> tuple[Tensor, ...]:
    """The rows of a product, dealt out by the numbers of rows of the tensors that were stacked for it; views."""
    rows = [0 if isinstance(result, Proxy) else one.shape[0] for one in inputs]  # a traced call's sizes are unknown
    return at("split")(result, rows)  # type: ignore[no-any-return]


def may_depend_on(a: Node, b: Node, search_depth: int = 6) -> bool:
    """Whether `a` is `b` or depends on it. If that is not known after so many steps back, yes."""
    if a == b:
        return True
    if not a.all_input_nodes:
        return False
    return search_depth == 0 or any(may_depend_on(one, b, search_depth - 1) for one in a.all_input_nodes)


def are_nodes_independent(nodes: list[Node]) -> bool:
    """Whether certainly none of the nodes depends on another."""
    return not any(may_depend_on(a, b) or may_depend_on(b, a) for a, b in itertools.combinations(nodes, 2))


def merge_matmul(in_mod: Module) -> GraphModule:
    """A module in which calls of `torch.matmul` with the same right side, independent of each other, are one call.

    The left sides must be matrices of as many columns.
    """
    gm = symbolic_trace(in_mod)
    by_right_side: dict[Any, list[Node]] = {}
    for node in gm.graph.find_nodes(op="call_function", target=at("matmul")):
        right = node.args[1]
        same = right.target if right.op == "get_attr" else right  # each use of a parameter is a node of its own
        by_right_side.setdefault(same, []).append(node)
    for products in by_right_side.values():
        if len(products) > 1 and are_nodes_independent(products):
            _merge(gm, products)
    gm.recompile()
    gm.graph.lint()
    return gm


def _merge(gm: GraphModule, products: list[Node]) -> None:
    graph = gm.graph
    left = [node.args[0] for node in products]
    stacked = graph.call_function(at("cat"), (left,))
    product = graph.call_function(at("matmul"), (stacked, products[0].args[1]))
    parts = graph.call_function(split_result_tensors, (product, left))
    for i, node in enumerate(products):
        node.replace_all_uses_with(graph.call_function(operator.getitem, (parts, i)))
        graph.erase_node(node)
    legalize_graph(gm)  # the new nodes stand at the end
