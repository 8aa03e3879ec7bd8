"""How is a part of a graph replaced by another one, wherever it occurs?

Mirrors: torch/fx/subgraph_rewriter.py
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.fx._symbolic_trace import symbolic_trace
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from glasstorch.nn.modules.module import Module

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]

Program = Callable[..., Any] | Graph | GraphModule
Filter = Callable[[InternalMatch, Graph, Graph], bool]


class Match(NamedTuple):
    """One place where the pattern was: its last node, and which node of the graph each of its nodes was."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """One place where the pattern was, with the nodes that stand there now."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(
    gm: GraphModule, pattern: Callable[..., Any] | GraphModule, replacement: Callable[..., Any] | GraphModule
) -> list[Match]:
    """Replace a pattern in a module's graph wherever it occurs, and compile the module again.

    Pattern and replacement are functions, which are traced, or modules with graphs. Both have the same number of
    parameters, which stand for anything in the graph; the pattern must use all of its own. Values are matched by how
    they are computed, not by name. Of places that overlap, the first one is replaced. Modules and parameters that the
    replacement needs are copied into `gm`.
    """
    return [
        Match(anchor=found.anchor, nodes_map=found.nodes_map)
        for found in replace_pattern_with_filters(gm, pattern, replacement)
    ]


def _graph_of(program: Program) -> Graph:
    if isinstance(program, Graph):
        return program
    return program.graph if isinstance(program, GraphModule) else symbolic_trace(program).graph


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Program,
    replacement: Program | None = None,
    match_filters: list[Filter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """`replace_pattern` where all filters agree, called with the match, the graph and the pattern's graph.

    With `ignore_literals`, plain values in the pattern stand for any. `replacement_callback` makes a graph for each
    match, with the same arguments as a filter. `node_name_match` is for `SubgraphMatcher.match`.
    """
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matcher = SubgraphMatcher(pattern_graph, ignore_literals=ignore_literals)
    matches = [
        match
        for match in matcher.match(graph, node_name_match=node_name_match)
        if all(wanted(match, graph, pattern_graph) for wanted in match_filters or ())
    ]
    if replacement is None and replacement_callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    common = None if replacement is None else _graph_of(replacement)
    replaced: list[ReplacedPatterns] = []
    now: dict[Node, Node] = {}  # what stands for a node that an earlier replacement has removed
    for match in matches:
        new = common if replacement_callback is None else replacement_callback(match, graph, pattern_graph)
        assert new is not None
        replaced.append(_replace_one(gm, pattern_graph, match, new, now))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_over_attributes(gm, replacement)
    return replaced


def _replace_one(
    gm: GraphModule, pattern: Graph, match: InternalMatch, replacement: Graph, now: dict[Node, Node]
) -> ReplacedPatterns:
    inputs = replacement.find_nodes(op="placeholder")
    if len(match.placeholder_nodes) != len(inputs):
        raise AssertionError(f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(inputs)}")
    match.placeholder_nodes = [now.get(node, node) if isinstance(node, Node) else node
                               for node in match.placeholder_nodes]  # fmt: skip
    match.nodes_map = {
        pn: now.get(gn, gn) if pn.op == "placeholder" and isinstance(gn, Node) else gn
        for pn, gn in match.nodes_map.items()
    }
    values: dict[Node, Any] = dict(zip(inputs, match.placeholder_nodes, strict=True))
    with gm.graph.inserting_before(_place(gm.graph, match)):
        returned = gm.graph.graph_copy(replacement, values)
    made = [node for node in values.values() if not any(node is given for given in match.placeholder_nodes)]
    results = (returned,) if isinstance(returned, Node) else returned
    if len(match.returning_nodes) != len(results):
        raise AssertionError(f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(results)}")
    for node, result in zip(match.returning_nodes, results, strict=True):
        node.replace_all_uses_with(result)
        now[node] = result
    for node in reversed(pattern.nodes):
        if node.op not in ("placeholder", "output"):
            gm.graph.erase_node(match.nodes_map[node])
    return ReplacedPatterns(anchor=match.anchors[0], nodes_map=match.nodes_map, replacements=made)


def _place(graph: Graph, match: InternalMatch) -> Node:
    """The node before which the replacement goes: the first that uses its results, or the one after the match."""
    users = {user for node in match.returning_nodes for user in node.users}
    if users:
        return min(users)
    return max(match.returning_nodes).next


def _take_over_attributes(gm: GraphModule, replacement: Module) -> None:
    """Copy what the new nodes fetch and call from the replacement's module."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _attribute(gm, node.target) is not None:
            continue
        if (found := _attribute(replacement, node.target)) is None:
            raise RuntimeError(
                f'Attempted to create a "{node.op}" node during subgraph rewriting with target {node.target}, but the '
                "referenced attribute does not exist in the replacement GraphModule"
            )
        if isinstance(found, Module):
            gm.add_submodule(node.target, copy.deepcopy(found))
        else:
            setattr(gm, node.target, copy.deepcopy(found))
    gm.graph.lint()


def _attribute(module: Module, target: str) -> Any:
    path, _, name = target.rpartition(".")
    try:
        return getattr(module.get_submodule(path), name, None)
    except AttributeError:
        return None


__getattr__ = refuse_unknown_names(__name__)
