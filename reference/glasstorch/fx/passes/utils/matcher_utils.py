"""Where in a graph is there a part that looks like another one?

Mirrors: torch/fx/passes/utils/matcher_utils.py

A pattern is a graph. Its inputs stand for anything, and each of its other nodes must be found with the same target and
with matching arguments. The search starts from the pattern's last nodes and goes backwards, since a value has one
producer and may have many users.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import _get_attr
from glasstorch.fx.node import Node
from glasstorch.fx.passes.utils.fuser_utils import validate_partition

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """One place where a pattern was found: which nodes of the graph its nodes are.

    `anchors` are the pattern's last nodes; `placeholder_nodes` is what its inputs are in the graph, which may be plain
    values; `returning_nodes` are the nodes that it returns.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            self.anchors, self.nodes_map.copy(), self.placeholder_nodes.copy(), self.returning_nodes.copy()
        )


class SubgraphMatcher:
    """Finds a pattern in graphs.

    With `match_output` or `match_placeholder`, the pattern's output or inputs must be the graph's. Of matches that
    share nodes, the first one counts, unless `remove_overlapping_matches` is false. With `ignore_literals`, plain
    values need not be equal. ValueError is raised for an empty pattern, AssertionError for one with dead code.
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern_placeholder_nodes = pattern.find_nodes(op="placeholder")
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes: list[Node] = output.all_input_nodes
        last = [node for node in output.all_input_nodes if len(node.users) == 1]
        self.pattern_anchors: list[Node] = [output] if match_output else last

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The places where the pattern is, in the order of the graph.

        In each, no node but those that the pattern returns is used by others, and the nodes could run as one step.
        A node whose name contains `node_name_match`, if that is given, matches the pattern's last node in any case.
        """
        candidates = [
            (anchor, [node for node in graph.nodes if self._nodes_are_equal(anchor, node, node_name_match)])
            for anchor in self.pattern_anchors
        ]
        candidates = [(anchor, found) for anchor, found in candidates if found]
        matches: list[InternalMatch] = []

        def search(number: int, match: InternalMatch) -> None:
            """Match the anchors from this one on, in all ways."""
            if number == len(candidates):
                match.placeholder_nodes = [match.nodes_map[node] for node in self.pattern_placeholder_nodes]
                match.returning_nodes = [match.nodes_map[node] for node in self.pattern_returning_nodes]
                matches.append(match)
                return
            anchor, found = candidates[number]
            for node in found:
                attempt = copy.copy(match)
                if self._match_nodes(anchor, node, attempt, node_name_match):
                    search(number + 1, attempt)

        if candidates:
            search(0, InternalMatch(anchors=self.pattern_anchors))
        matches = [m for m in matches if self._is_contained(m.nodes_map) and validate_partition(_computed(m))]
        return self._remove_overlapping_matches(matches) if self.remove_overlapping_matches else matches

    def _match_nodes(self, pn: Node, gn: Node, match: InternalMatch, node_name_match: str = "") -> bool:
        """Whether a node of the graph is one of the pattern, with all that leads to both."""
        if pn in match.nodes_map:
            return match.nodes_map[pn] is gn
        if any(found is gn for found in match.nodes_map.values()):
            return False
        if not self._nodes_are_equal(pn, gn, node_name_match):
            return False
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        arguments = _arguments(pn, gn)
        return arguments is not None and self._match_sequences(*arguments, match)

    def _match_sequences(self, theirs: Sequence[Any], ours: Sequence[Any], match: InternalMatch) -> bool:
        return len(theirs) == len(ours) and all(
            self._match_values(a, b, match) for a, b in zip(theirs, ours, strict=True)
        )

    def _match_values(self, pattern: Any, given: Any, match: InternalMatch) -> bool:
        if isinstance(pattern, Node) and isinstance(given, Node):
            return self._match_nodes(pattern, given, match)
        if isinstance(pattern, list | tuple) and isinstance(given, list | tuple):
            return self._match_sequences(pattern, given, match)
        return self._match_literals(pattern, given, match) or self.ignore_literals

    def _match_literals(self, pn: Any, gn: Any, match: InternalMatch) -> bool:
        if isinstance(pn, Node) and isinstance(gn, Node):
            raise AssertionError("pn and gn cannot both be Node")
        if isinstance(pn, Node) and pn.op == "placeholder":
            return bool(match.nodes_map.setdefault(pn, gn) == gn)
        if isinstance(pn, Node) or isinstance(gn, Node):
            return False
        return type(gn) is type(pn) and bool(gn == pn)

    def _nodes_are_equal(self, pn: Node, gn: Node, node_name_match: str = "") -> bool:
        if pn.op == "placeholder" and not self.match_placeholder:
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op:
            return False
        if pn.op == "get_attr":
            return self._match_attributes(pn, gn)
        return pn.op in ("placeholder", "output") or bool(pn.target == gn.target)

    def _match_attributes(self, pn: Node, gn: Node) -> bool:
        """Whether both fetch a tensor of the same class; its values may differ."""
        values = []
        for node in (pn, gn):
            if node.graph.owning_module is None:
                raise AssertionError(f"{node} fetches an attribute, and its graph has no module")
            values.append(_get_attr(node.graph.owning_module, node.target))
        if type(values[0]) is not type(values[1]):
            return False
        if not isinstance(values[0], Tensor):
            raise RuntimeError(f"Unsupported type {values[0]} when matching attributes")
        return True

    def _is_contained(self, nodes_map: dict[Node, Any]) -> bool:
        """Whether no value is used outside the match but those that the pattern returns."""
        inside = {gn: pn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        return all(
            user in inside for gn, pn in inside.items() if pn not in self.pattern_returning_nodes for user in gn.users
        )

    def _remove_overlapping_matches(self, matches: list[InternalMatch]) -> list[InternalMatch]:
        kept: list[InternalMatch] = []
        taken: set[Node] = set()
        for match in matches:
            nodes = _computed(match)
            if taken.isdisjoint(nodes):
                kept.append(match)
                taken.update(nodes)
        return kept


def _computed(match: InternalMatch) -> list[Node]:
    """The nodes of a match that compute something."""
    return [gn for pn, gn in match.nodes_map.items() if pn.op not in ("placeholder", "output")]


def _arguments(pn: Node, gn: Node) -> tuple[list[Any], list[Any]] | None:
    """The arguments of two nodes, one by one; of an operator with the defaults that one of them leaves out.

    None if they cannot be compared.
    """
    if len(pn.args) == len(gn.args) and list(pn.kwargs) == list(gn.kwargs):
        return [*pn.args, *pn.kwargs.values()], [*gn.args, *gn.kwargs.values()]
    if pn.op == "call_function" and isinstance(pn.target, OpOverload):
        return _with_defaults(pn), _with_defaults(gn)
    return None


def _with_defaults(node: Node) -> list[Any]:
    values = []
    for i, argument in enumerate(node.target._schema.arguments):
        if argument.name in node.kwargs:
            values.append(node.kwargs[argument.name])
        elif not argument.kwarg_only and i < len(node.args):
            values.append(node.args[i])
        else:
            values.append(argument.default_value)
    return values
