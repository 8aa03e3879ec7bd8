"""Where is a network of edges cut, so that the capacities of what is cut add up to the least?

Mirrors: networkx.minimum_cut, which torch/_functorch/partitioners.py calls

As much flows from the source to the sink as the edges let through (Dinic's algorithm: on shortest ways, all of one
length at a time). Then every way has an edge that is full. What can still reach the sink by edges that are not full is
on the far side of the cut, and all else on the near side: of the cuts that cost the least, the one nearest to the sink.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable
from typing import Any


class Network:
    """Edges with capacities, which are ints or infinite. An edge that is added again gets the later capacity."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}
        self.after: list[dict[int, int]] = []  # for each node, where in the lists below its edge to another one stands
        self.ends: list[int] = []  # of edge i; edge i ^ 1 is its reverse
        self.capacities: list[float] = []
        self.out: list[list[int]] = []

    def add_edge(self, one: Hashable, other: Hashable, capacity: float) -> None:
        """Add an edge, or change its capacity."""
        start, end = self._number(one), self._number(other)
        if (edge := self.after[start].get(end)) is not None:
            self.capacities[edge] = capacity
            return
        self.after[start][end] = len(self.ends)
        for a, b, most in ((start, end, capacity), (end, start, 0)):
            self.out[a].append(len(self.ends))
            self.ends.append(b)
            self.capacities.append(most)

    def _number(self, node: Hashable) -> int:
        if node not in self.numbers:
            self.numbers[node] = len(self.out)
            self.out.append([])
            self.after.append({})
        return self.numbers[node]

    def cut(self, source: Hashable, sink: Hashable) -> list[tuple[Any, Any]]:
        """The edges that lead from the near side to the far side. ValueError if there is a way that cannot be cut."""
        left = self._left_after(self._number(source), self._number(sink))
        far = self._reaching(self._number(sink), left)
        names = list(self.numbers)
        return [
            (names[start], names[end])
            for start, ends in enumerate(self.after)
            for end in ends
            if not far[start] and far[end]
        ]

    def _left_after(self, source: int, sink: int) -> list[int]:
        """What each edge would still let through when as much flows as can."""
        beyond = 1 + sum(int(capacity) for capacity in self.capacities if capacity != math.inf)
        left = [beyond if capacity == math.inf else int(capacity) for capacity in self.capacities]
        total = 0
        while (steps := self._distances(source, sink, left)) is not None:
            places = [0] * len(self.out)  # how far the edges of a node have been tried
            while flow := self._push(source, sink, left, steps, places):
                total += flow
                if total >= beyond:
                    raise ValueError("Infinite capacity path, flow unbounded above.")
        return left

    def _distances(self, source: int, sink: int, left: list[int]) -> list[int] | None:
        """How many edges lead from the source to each node; None if none lead to the sink."""
        steps = [-1] * len(self.out)
        steps[source] = 0
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for edge in self.out[node]:
                if left[edge] and steps[end := self.ends[edge]] < 0:
                    steps[end] = steps[node] + 1
                    queue.append(end)
        return steps if steps[sink] >= 0 else None

    def _push(self, source: int, sink: int, left: list[int], steps: list[int], places: list[int]) -> int:
        """Let as much flow along one shortest way as it lets through; 0 if there is none any more."""
        way: list[int] = []
        node = source
        while node != sink:
            edges = self.out[node]
            while places[node] < len(edges):
                edge = edges[places[node]]
                if left[edge] and steps[self.ends[edge]] == steps[node] + 1:
                    way.append(edge)
                    node = self.ends[edge]
                    break
                places[node] += 1
            else:
                if not way:
                    return 0
                node = self.ends[way.pop() ^ 1]  # a dead end: the edge that led here is not tried again
                places[node] += 1
        flow = min(left[edge] for edge in way)
        for edge in way:
            left[edge] -= flow
            left[edge ^ 1] += flow
        return flow

    def _reaching(self, sink: int, left: list[int]) -> list[bool]:
        """Which nodes have a way to the sink by edges that are not full."""
        far = [False] * len(self.out)
        far[sink] = True
        nodes = [sink]
        while nodes:
            for edge in self.out[nodes.pop()]:
                start = self.ends[edge]
                if left[edge ^ 1] and not far[start]:
                    far[start] = True
                    nodes.append(start)
        return far
