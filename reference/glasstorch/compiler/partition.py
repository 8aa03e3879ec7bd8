"""Which part of a joint graph runs forward, which backward, and what is kept in between?

Mirrors: torch/_functorch/partitioners.py (default_partition, _extract_fwd_bwd_modules)
Differs: no forward result is recomputed in the backward pass. The partition by the smallest cut is in min_cut.py.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.joint import BACKWARD, FORWARD, TAG
from glasstorch.core.pytree import tree_leaves
from glasstorch.core.symbols import is_symbol
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node


def default_partition(
    joint_module: GraphModule, _joint_inputs: Any, *, num_fwd_outputs: int, **unused: Any
) -> tuple[GraphModule, GraphModule]:
    """The forward and the backward module of a joint graph, cut where eager mode would.

    Forward runs what the function ran, and returns its results, then each value that backward needs. Backward takes
    those and the tangents, in this order, and returns a gradient for each primal.
    """
    nodes = list(joint_module.graph.nodes)
    forward = {node for node in nodes if _runs_forward(node)}
    saved = [
        node
        for node in nodes
        if node in forward
        and node.op != "get_attr"  # a constant is fetched again
        and any(user not in forward and user.op != "output" for user in node.users)
    ]
    return _extract_fwd_bwd_modules(joint_module, saved, num_fwd_outputs=num_fwd_outputs)


def _runs_forward(node: Node) -> bool:
    if node.op == "placeholder":
        return is_primal(node)
    return node.op != "output" and node.meta.get(TAG) != BACKWARD


def results_of(joint_graph: Graph) -> list[Any]:
    """The results of a joint graph, those of forward first; None where there is no gradient."""
    return tree_leaves(joint_graph.output_node().args[0], is_leaf=lambda leaf: leaf is None)


def is_primal(node: Node) -> bool:
    """Whether a node stands for an argument of the function."""
    return node.op == "placeholder" and "tangents" not in str(node.target)


def is_tangent(node: Node) -> bool:
    """Whether a node stands for a gradient that arrives."""
    return node.op == "placeholder" and "tangents" in str(node.target)


def _extract_fwd_bwd_modules(
    joint_module: GraphModule, saved_values: Sequence[Node], *, num_fwd_outputs: int
) -> tuple[GraphModule, GraphModule]:
    """Two modules of a joint one, given the values that are kept."""
    results = results_of(joint_module.graph)
    primals = [node for node in joint_module.graph.nodes if is_primal(node)]
    tangents = [node for node in joint_module.graph.nodes if is_tangent(node)]
    backward = extract(joint_module.graph, [*saved_values, *tangents], results[num_fwd_outputs:])
    if missing := _missing_symbols(backward, primals):
        saved_values = [*saved_values, *(node for node in missing if node not in saved_values)]
        backward = extract(joint_module.graph, [*saved_values, *tangents], results[num_fwd_outputs:])
    used = {node.name for node in backward.find_nodes(op="placeholder") if node.users}
    used |= {node.name for node in missing}
    saved = [node for node in saved_values if node.name in used]
    if len(saved) < len(saved_values):
        backward = extract(joint_module.graph, [*saved, *tangents], results[num_fwd_outputs:])
    forward = extract(joint_module.graph, primals, [*results[:num_fwd_outputs], *saved])
    return GraphModule(joint_module, forward), GraphModule(joint_module, backward)


def _missing_symbols(backward: Graph, primals: Sequence[Node]) -> list[Node]:
    """The primals that are symbols of which backward needs the number, while the size of no input says it."""
    said: set[Any] = set()
    needed: set[Any] = set()
    for node in backward.nodes:
        for value in tree_leaves(node.meta.get("val")):
            for number in (*value.shape, *value.stride()) if isinstance(value, Tensor) else (value,):
                if is_symbol(number):
                    expr = number.node.expr
                    needed |= expr.free_symbols
                    if node.op == "placeholder" and expr.is_Symbol:
                        said.add(expr)
    symbols = [node for node in primals if needed and is_symbol(node.meta.get("val"))]
    return [node for node in symbols if node.meta["val"].node.expr in needed - said]


def extract(joint_graph: Graph, inputs: Sequence[Node], outputs: Sequence[Any]) -> Graph:
    """A graph that computes some values of another one from others; RuntimeError if they do not suffice."""
    graph = Graph()
    copies: dict[Node, Node] = {}
    for node in inputs:
        copies[node] = graph.placeholder(node.name)
        copies[node].meta = copy.copy(node.meta)
    runs_backward = any(is_tangent(node) for node in inputs)
    for node in joint_graph.nodes:
        if node in copies or node.op in ("placeholder", "output"):
            continue
        if runs_backward and node.meta.get(TAG) == FORWARD and node.is_impure():
            continue  # what the forward pass has written is there
        if all(source in copies for source in node.all_input_nodes):
            copies[node] = graph.node_copy(node, lambda source: copies[source])
    missing = [value for value in outputs if isinstance(value, Node) and value not in copies]
    if missing:
        raise RuntimeError(f"extract: {missing} cannot be computed from {list(inputs)}")
    graph.output(tuple(copies[value] if isinstance(value, Node) else value for value in outputs))
    graph.eliminate_dead_code()
    graph.lint()
    return graph
