"""Which parts of a backward graph repeat, so that one of them can be drawn for all?

A graph is cut at each node that every way from the root passes, leaves not counted: between the layers of a network.
Equal parts that follow each other are folded: the first one is drawn, and a box stands for the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from glasstorch.autograd.node import Node

LONGEST = 24  # cuts in a part that is looked for
FEWEST = 3  # repeats that are folded


class Folded:
    """A box for the nodes of parts that are like the one above it."""

    released = False

    def __init__(self, times: int, size: int, after: Node | None) -> None:
        self.times, self.size = times, size
        self.next_functions = [] if after is None else [(after, 0)]

    def name(self) -> str:
        return f"the same {self.times:,} times more"


class Run(NamedTuple):
    """Equal parts that follow each other: the first cut of the first, how many cuts each has, and how many they are."""

    start: int
    period: int
    times: int


def folded(levels: dict[Node, int]) -> dict[Node, Folded]:
    """The boxes of a graph's repeats, each by the node that it stands in the place of.

    `levels` are the graph's nodes in the order of their levels: a node after all that lead to it.
    """
    order = list(levels)
    cuts = cuts_of(order)
    parts = parts_between(order, cuts)
    marks = [mark(part) for part in parts]
    sizes = [len(part) for part in parts]
    found = {}
    for run in runs(marks):
        second, end = run.start + run.period, run.start + run.period * run.times
        after = cuts[end] if end < len(cuts) else None
        found[cuts[second]] = Folded(run.times - 1, sum(sizes[second:end]), after)
    return found


def is_leaf(node: Node) -> bool:
    """Whether gradients end there."""
    return not node.next_functions


def cuts_of(order: Sequence[Node]) -> list[Node]:
    """The nodes that every way from the root to an inner node after them passes, in order; the root is the first."""
    places = {node: place for place, node in enumerate(order)}
    cuts, furthest = [], 0
    for place, node in enumerate(order):
        if is_leaf(node):
            continue
        if furthest <= place:
            cuts.append(node)
        inner = [places[target] for target, _ in node.next_functions if target is not None and not is_leaf(target)]
        furthest = max([furthest, *inner])
    return cuts


def parts_between(order: Sequence[Node], cuts: Sequence[Node]) -> list[list[Node]]:
    """The inner nodes from each cut to the next."""
    starts = set(cuts)
    parts: list[list[Node]] = []
    for node in order:
        if node in starts:
            parts.append([])
        if parts and not is_leaf(node):
            parts[-1].append(node)
    return parts


def mark(part: Sequence[Node]) -> Hashable:
    """What two equal parts have in common: the names of the nodes, and where each edge leads within the part."""
    places = {node: place for place, node in enumerate(part)}
    return tuple((node.name(), tuple(_kind(target, places) for target, _ in node.next_functions)) for node in part)


def _kind(target: Node | None, places: dict[Node, int]) -> Hashable:
    if target is None:
        return None
    return places.get(target, "a leaf" if is_leaf(target) else "the next part")


def runs(marks: Sequence[Hashable]) -> list[Run]:
    """The repeats, from the beginning on; of two that begin at one part, the one that covers more."""
    numbers: dict[Hashable, int] = {}
    ids = [numbers.setdefault(one, len(numbers)) for one in marks]
    found, start = [], 0
    while start < len(ids):
        best = Run(start, 1, 1)
        for period in range(1, min(LONGEST, (len(ids) - start) // FEWEST) + 1):
            part, end = ids[start : start + period], start + period
            while ids[end : end + period] == part:
                end += period
            times = (end - start) // period
            if times >= FEWEST and times * period > best.times * best.period:
                best = Run(start, period, times)
        if best.times >= FEWEST:
            found.append(best)
        start += best.period * best.times
    return found
