"""Does the search find the nodes on a path to a target, and only these, at any depth and without walking each path?"""

import random
from collections.abc import Iterator, Sequence

from glasstorch.autograd.node import Edge, Node
from workbook.exercises.asking import Ask, expect

SMALL = (  # roots, targets, graph, which nodes must run
    ("w", "w", "w:", ""),
    ("b", "w", "b: w, w:", "b"),
    ("b", "w", "b: - w, w:", "b"),
    ("c", "w", "c: b v, b: w, v:, w:", "bc"),
    ("c", "b", "c: b b, b: w, w:", "c"),
    ("c", "bw", "c: b, b: w, w:", "bc"),
    ("d", "w", "d: b c, c: b, b: w, w:", "bcd"),
    ("d", "w", "d: c b, c: b, b: w, w:", "bcd"),
    ("cd", "w", "d: b, c: v, b: w, v:, w:", "bd"),
    ("c", "d", "d: c, c: w, w:", ""),
)
RANDOM = 40  # graphs


class Stop(Node):
    """A node with a letter for a name; it counts how often its edges are looked at."""

    looked = 0

    def __init__(self, letter: str, below: Sequence["Stop | None"]) -> None:
        super().__init__([node and (node, 0) for node in below])
        self.letter = letter

    @property
    def next_edges(self) -> Sequence[Edge | None]:
        """The edges."""
        self.looked += 1
        return self.edges

    @next_edges.setter
    def next_edges(self, edges: Sequence[Edge | None]) -> None:
        self.edges = edges

    def __repr__(self) -> str:
        return self.letter


def graph(text: str) -> dict[str, Stop]:
    """The nodes of `d: c b, c: b b, b: w -, w:`, where a dash is an edge that leads nowhere; the last one first."""
    nodes: dict[str, Stop] = {}
    for line in reversed(text.split(", ")):
        letter, below = line.split(":")
        nodes[letter] = Stop(letter, [nodes.get(name) for name in below.split()])
    return nodes


def chain(length: int, edges: int = 1) -> list[Stop]:
    """A chain of nodes, each with this number of edges to the one before it."""
    nodes = [Stop("first", [])]
    for place in range(2, length + 1):
        nodes.append(Stop("last" if place == length else "n", nodes[-1:] * edges))
    return nodes


def drawn() -> Iterator[tuple[str, str, str, str]]:
    """Graphs of eight nodes drawn at random, the same in every run, in the form of SMALL."""
    draw, letters = random.Random("04.3"), "abcdefgh"
    for _ in range(RANDOM):
        below = {a: draw.choices("-" + letters[:place], k=draw.randrange(4)) for place, a in enumerate(letters)}
        roots, targets = (draw.sample(letters[low:high], draw.choice((1, 2))) for low, high in ((4, 8), (0, 7)))
        text = ", ".join(f"{letter}: {' '.join(below[letter])}".rstrip() for letter in reversed(letters))
        yield "".join(roots), "".join(sorted(targets)), text, must_run(below, roots, targets)


def must_run(below: dict[str, list[str]], roots: list[str], targets: list[str]) -> str:
    """Which nodes must run, found from the set of nodes that each one reaches."""
    reached = {"-": set[str]()}
    for letter, next_ones in below.items():  # the lowest first
        reached[letter] = {letter}.union(*(reached[one] for one in next_ones))
    under = set[str]().union(*(reached[root] for root in roots))
    return "".join(sorted(letter for letter in under if (reached[letter] - {letter}) & {*targets}))


def letters(value: object) -> object:
    """The returned set, with the letter of each node."""
    return {getattr(node, "letter", node) for node in value} if isinstance(value, set) else value


def at_most(count: int, limit: int) -> bool:
    """Whether a count is within a limit."""
    return count <= limit


def test_which_nodes_must_run(ask: Ask) -> None:
    """which nodes must run for the targets"""
    for roots, targets, text, accepted in (*SMALL, *drawn()):
        nodes = graph(text)
        came = ask("nodes_leading_to", [(nodes[root], 0) for root in roots], {nodes[target] for target in targets})
        asked = (
            f"which nodes must run where the roots are {' and '.join(roots)}, the targets {' and '.join(targets)}, "
            f"and the edges of each node: {text}"
        )
        because = "a node must run if one of its edges leads to a target, or to a node that must run"
        expect(came, {*accepted}, read=letters, asked=asked, because=because)


def test_many_paths(ask: Ask) -> None:
    """how often next_edges is read in a graph of 15 nodes, each with two edges to the next"""
    nodes = chain(15, edges=2)
    ask("nodes_leading_to", [(nodes[-1], 0)], {nodes[0]})
    because = "16,384 paths lead through these nodes, so do not walk on from a node that was visited before"
    expect(sum(node.looked for node in nodes), 15 * 10, same=at_most, because=because)


def test_a_deep_graph(ask: Ask) -> None:
    """how many nodes of a chain of 100,000 must run, where the last node is the root and the first one the target"""
    nodes = chain(100_000)
    came = ask("nodes_leading_to", [(nodes[-1], 0)], {nodes[0]})
    expect(came, 99_999, read=len, because="a loop over a list of nodes still to be visited needs no deep stack")
