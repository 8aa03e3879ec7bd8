"""Are all edges below the roots counted, each once, at any depth?"""

from glasstorch.autograd.node import Node
from workbook.exercises.asking import Ask, Came, expect


class Stop(Node):
    """A node with a letter for a name."""

    def __init__(self, letter: str, below: list["Stop | None"]) -> None:
        super().__init__([node and (node, 0) for node in below])
        self.letter = letter

    def __repr__(self) -> str:
        return self.letter


def graph(text: str) -> dict[str, Stop]:
    """The nodes of `d: c b, c: b b, b: w -, w:`, where a dash is an edge that leads nowhere; the last one first."""
    nodes: dict[str, Stop] = {}
    for line in reversed(text.split(", ")):
        letter, below = line.split(":")
        nodes[letter] = Stop(letter, [nodes.get(name) for name in below.split()])
    return nodes


def counted(came: Came) -> dict[str, int]:
    """What came, by the letters; nodes without an edge to them left out."""
    return {node.letter: count for node, count in sorted(came.value.items(), key=repr) if count}


def test_one_root(ask: Ask) -> None:
    """how many edges lead to each node"""
    for text, accepted in (
        ("w:", {}),
        ("b: w, w:", {"w": 1}),
        ("b: w -, w:", {"w": 1}),
        ("c: b b, b: w, w:", {"b": 2, "w": 1}),
        ("d: c b, c: a, b: a, a: w, w:", {"a": 2, "b": 1, "c": 1, "w": 1}),
        ("d: c b, c: b b, b: - w, w:", {"b": 3, "c": 1, "w": 1}),
        ("e: d d -, d: c a, c: b b, b: a, a: w, w:", {"a": 2, "b": 2, "c": 1, "d": 2, "w": 1}),
    ):
        nodes = graph(text)
        came = ask("compute_dependencies", [(nodes[text[0]], 0)])
        asked = f"how many edges lead to each node of this graph: {text}"
        because = "each edge is counted once: the edges of a node when the node is first seen"
        expect(counted(came), accepted, asked=asked, because=because)


def test_several_roots(ask: Ask) -> None:
    """how many edges lead to each node, where a pass starts from several"""
    for roots, text, accepted in (
        ("cb", "c: w, b: w, w:", {"w": 2}),
        ("cd", "d: b, c: b, b: w, w:", {"b": 2, "w": 1}),
        ("bb", "b: w, w:", {"w": 1}),
        ("cb", "c: b, b: w, w:", {"b": 1, "w": 1}),
        ("bd", "d: c, c: b, b: a, a: w, w:", {"a": 1, "b": 1, "c": 1, "w": 1}),
    ):
        nodes = graph(text)
        came = ask("compute_dependencies", [(nodes[letter], 0) for letter in roots])
        asked = f"how many edges lead to each node below the roots {' and '.join(roots)} of this graph: {text}"
        because = "the edges below all roots are counted together, and a root given twice or seen before has them once"
        expect(counted(came), accepted, asked=asked, because=because)


def test_a_deep_graph(ask: Ask) -> None:
    """how many edges there are in a chain of 100,000 nodes"""
    node = None
    for _ in range(100_000):
        node = Stop("n", [node])
    came = ask("compute_dependencies", [(node, 0)])
    expect(sum(came.value.values()), 99_999, because="a loop with a list of what is still to visit needs no deep stack")
