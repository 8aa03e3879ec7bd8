"""How does a pattern give names to its nodes?

Mirrors: torch/fx/passes/utils/matcher_with_name_node_map_utils.py

The pattern returns one thing more than it computes, a dict: `return relu, {"conv": conv, "relu": relu}`. Each match
then has, in `name_node_map`, the nodes of the graph by these names.
"""

from __future__ import annotations

from typing import Any

from glasstorch.core.pytree import tree_flatten, tree_unflatten
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher

__all__ = ["SubgraphMatcherWithNameNodeMap"]


def _split_to_graph_and_name_node_map(gm: GraphModule) -> tuple[GraphModule, dict[str, Node]]:
    """The module without the dict that it returns last, and that dict. The module is changed."""
    module: Any = gm
    output = gm.graph.output_node()
    if module._out_spec is None:
        raise AssertionError("gm._out_spec is None")
    returned = tree_unflatten(list(output.args[0]), module._out_spec)
    if not isinstance(returned, tuple):
        raise AssertionError("Expecting the pattern graph to return a tuple")
    if len(returned) < 2:  # a result and the dict
        raise AssertionError("Expecting the pattern graph to have at least two outputs")
    *results, names = returned
    if not isinstance(names, dict):
        raise AssertionError("Expecting the input graph to have a dict output as the last element")
    flat, out_spec = tree_flatten(results)
    output.args = (flat,)
    codegen: Any = gm.graph._codegen
    codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
    gm.recompile()
    return gm, names


class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """Finds a pattern in graphs, and tells which node is which by the names that the pattern gives.

    The pattern is a module, which is changed: it no longer returns the names. It must have been traced with its
    results taken apart, as export does.
    """

    def __init__(
        self,
        pattern_gm: GraphModule,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        pattern_gm, self.name_node_map = _split_to_graph_and_name_node_map(pattern_gm)
        super().__init__(pattern_gm.graph, match_output, match_placeholder, remove_overlapping_matches, ignore_literals)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The places where the pattern is, with `name_node_map` filled."""
        matches = super().match(graph, node_name_match)
        for match in matches:
            match.name_node_map.update({name: match.nodes_map[node] for name, node in self.name_node_map.items()})
        return matches
