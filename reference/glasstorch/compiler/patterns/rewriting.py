"""How are patterns replaced, and how is that told?

Mirrors: torch/_inductor/pattern_matcher.py (PatternMatcherPass, ReplacementPatternEntry)
Differs: a pattern that was found and is not replaced says why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glasstorch.compiler.counters import counters
from glasstorch.compiler.logs import tell
from glasstorch.compiler.patterns.matcher import Match, Reader, find
from glasstorch.fx.graph import Graph
from glasstorch.fx.node import Node


class Refused(Exception):
    """Why a place that looks like a pattern is left as it is."""


class Pattern(NamedTuple):
    """A pattern; what is put in its place, built before the anchor; and the words of operations that may be last.

    `replace` raises Refused where a condition does not hold, before it builds anything. `counter` is the name by which
    PyTorch counts it, beside "pattern_matcher_count".
    """

    name: str
    pattern: Any
    replace: Callable[[Match, Graph], Any]
    counter: str | None = None
    alone: bool = True  # whether nothing else may need what lies inside


class Told(NamedTuple):
    """What became of a place where a pattern was found."""

    text: str
    is_replaced: bool


def rewrite(graph: Graph, patterns: Sequence[Pattern], read: Reader) -> list[Told]:
    """Replace patterns in a graph, from its end, and say what was replaced and what was not."""
    told: list[Told] = []
    for node in reversed(list(graph.nodes)):
        if node._erased or read(node) is None:
            continue
        for pattern in patterns:
            match = find(pattern.pattern, node, read, pattern.alone)
            if match is None:
                continue
            told.append(_replaced(graph, pattern, match))
            if told[-1].is_replaced:
                break
    if told:
        tell("patterns", "\n".join(line.text for line in told))
    return told


def _replaced(graph: Graph, pattern: Pattern, match: Match) -> Told:
    names = ", ".join(node.name for node in reversed(match.nodes))
    try:
        with graph.inserting_before(match.anchor):
            value = pattern.replace(match, graph)
    except Refused as reason:
        return Told(f"{pattern.name}: {names} are left: {reason}", is_replaced=False)
    match.anchor.replace_all_uses_with(value)
    for node in match.nodes:  # the last one first
        if not node.users:
            graph.erase_node(node)
    counters["inductor"]["pattern_matcher_count"] += 1
    counters["inductor"]["pattern_matcher_nodes"] += len(match.nodes)
    if pattern.counter is not None:
        counters["inductor"][pattern.counter] += 1
    return Told(f"{pattern.name}: {names} became {value}", is_replaced=True)


def value_of(node: Node) -> Any:
    """The fake tensor that stands for a node's result; None if none was noted."""
    found = node.meta.get("val")
    return node.meta.get("example_value") if found is None else found
