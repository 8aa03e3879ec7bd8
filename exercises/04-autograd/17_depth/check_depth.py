"""Is the order right for all graphs, and does it take only a few steps for each node, at any depth?"""

import random
import sys
from collections.abc import Callable, Iterator, Sequence

from glasstorch.autograd.node import Edge, Node
from workbook.exercises.asking import Ask, expect

SMALL = (  # roots, and the graph
    ("w", "w:"),
    ("b", "b: w, w:"),
    ("b", "b: - w, w:"),
    ("d", "d: b c, c: b, b: w, w:"),
    ("d", "d: c b, c: b, b: w, w:"),
    ("d", "d: c w, c: b b, b: w -, w:"),
    ("cd", "d: b, c: v, b: w, v:, w:"),
    ("bd", "d: c, c: b, b: w, w:"),
    ("db", "d: c, c: b, b: w, w:"),
    ("dd", "d: w, w:"),
    ("c", "d: c, c: w, w:"),
)
RANDOM = 40  # graphs
RIGHT = "each node once, before the nodes that its edges lead to"


class Stop(Node):
    """A node with a letter; it counts reads of its edges and comparisons, and records how deep the stack was."""

    looked, compared, deepest = 0, 0, 0

    def __init__(self, letter: str, below: Sequence["Stop | None"], number: int) -> None:
        super().__init__([node and (node, 0) for node in below])
        self.letter, self.sequence_nr = letter, number

    @property
    def next_edges(self) -> Sequence[Edge | None]:
        """The edges."""
        self.looked += 1
        self.deepest = max(self.deepest, stack_depth())
        return self.edges

    @next_edges.setter
    def next_edges(self, edges: Sequence[Edge | None]) -> None:
        self.edges = edges

    def __eq__(self, other: object) -> bool:
        self.compared += 1
        return self is other

    __hash__ = Node.__hash__

    def __repr__(self) -> str:
        return self.letter


def stack_depth() -> int:
    """How many calls are open now."""
    frame, depth = sys._getframe(1), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


draw = random.Random("04.17")


def graph(text: str) -> dict[str, Stop]:
    """The nodes of `d: c b, c: b b, b: w -, w:`, where a dash is an edge that leads nowhere; the last one first."""
    nodes: dict[str, Stop] = {}
    for line in reversed(text.split(", ")):
        letter, below = line.split(":")
        nodes[letter] = Stop(letter, [nodes.get(name) for name in below.split()], draw.randrange(99))
    return nodes


def chain(length: int, edges: int = 1) -> list[Stop]:
    """A chain of nodes, each with this number of edges to the one before it."""
    nodes = [Stop("first", [], 0)]
    for _ in range(1, length):
        nodes.append(Stop("n", nodes[-1:] * edges, 0))
    return nodes


def cases() -> Iterator[tuple[str, str]]:
    """The small graphs, and some of eight nodes drawn at random, the same in every run."""
    yield from SMALL
    for _ in range(RANDOM):
        letters = "abcdefgh"
        lines = [
            f"{letter}: {' '.join(draw.choices('-' + letters[:place], k=draw.randrange(4)))}".rstrip()
            for place, letter in enumerate(letters)
        ]
        yield "".join(draw.sample(letters[3:], draw.choice((1, 2, 3)))), ", ".join(reversed(lines))


def verdict(roots: Sequence[Stop]) -> Callable[[object], object]:
    """A function that says what is wrong with an order of the nodes below these roots."""
    below, walked = list(dict.fromkeys(roots)), 0
    while walked < len(below):
        below += [edge[0] for edge in below[walked].edges if edge and not any(edge[0] is one for one in below)]
        walked += 1

    def judge(order: object) -> object:
        if not isinstance(order, list) or not all(isinstance(node, Stop) for node in order):
            return order
        places = {id(node): place for place, node in enumerate(order)}
        for node in below:
            if id(node) not in places:
                return f"{node} is missing in {order}"
        if len(order) > len(below):
            return f"{len(order)} nodes instead of {len(below)}: {order}"
        for node in below:
            for edge in node.edges:
                if edge and places[id(edge[0])] < places[id(node)]:
                    return f"{edge[0]} comes before {node} in {order}"
        return RIGHT

    return judge


def at_most(count: int, limit: int) -> bool:
    """Whether a count is within a limit."""
    return count <= limit


def test_the_order(ask: Ask) -> None:
    """the order of a graph's nodes"""
    for roots, text in cases():
        nodes = graph(text)
        came = ask("sorted_below", [(nodes[root], 0) for root in roots])
        asked = f"the order of the nodes below {' and '.join(roots)}, where the edges of each node are {text}"
        because = "in the reversed order, a node is judged after all nodes below it"
        expect(came, RIGHT, read=verdict([nodes[root] for root in roots]), asked=asked, because=because)


def test_many_paths(ask: Ask) -> None:
    """how often next_edges is read in a graph of 15 nodes, each with two edges to the next"""
    nodes = chain(15, edges=2)
    ask("sorted_below", [(nodes[-1], 0)])
    because = "16,384 paths lead through these nodes, so do not walk on from a node that was visited before"
    expect(sum(node.looked for node in nodes), 15 * 10, same=at_most, because=because)


def test_few_comparisons(ask: Ask) -> None:
    """how often nodes are compared in a chain of 200"""
    nodes = chain(200)
    ask("sorted_below", [(nodes[-1], 0)])
    because = "`in` compares with the entries of a list one by one, for each node again; a set finds an entry at once"
    expect(sum(node.compared for node in nodes), 200, same=at_most, because=because)


def test_the_stack(ask: Ask) -> None:
    """how many calls are open at most, while the edges of a chain of 200 nodes are read"""
    nodes = chain(200)
    here = stack_depth()
    ask("sorted_below", [(nodes[-1], 0)])
    because = "with a call for each node, a chain of a million nodes overflows the stack, whatever the limit is"
    expect(max(node.deepest for node in nodes) - here, 20, same=at_most, because=because)
