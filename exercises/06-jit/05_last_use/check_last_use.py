"""Is each value let go of at its last use, and at no other node?"""

import random

from glasstorch.fx import Graph
from workbook.exercises.asking import Ask, expect

SMALL = (  # what each node uses; a node named by a single letter runs where it stands
    "a: x, b: a, output: b",
    "a: x, b: a x, output: b",
    "a: x, b: a, c: b a, output: c",
    "a: x, b: x, c: b x, d: a, output: d",
)
RETURNED = ("a: x, b: a, output: b a", "a: x, b: a, output: b x", "output: x")
TWICE = ("a: x, b: a a, output: b", "a: x, b: a x a, c: b b, output: c")
UNUSED = ("a: x, b: a, c: x, output: b", "a: x, output:")
RANDOM = 60  # graphs


def graph(text: str) -> Graph:
    """The graph of `a: x, b: a x, output: b`, whose input is x; a node calls `max` with what it uses."""
    made = Graph()
    nodes = {"x": made.placeholder("x")}
    for line in text.split(", "):
        name, used = line.split(":")
        args = tuple(nodes[one] for one in used.split())
        if name == "output":
            made.output(args)
        else:
            nodes[name] = made.create_node("call_function", max, args, name=name)
    return made


def drawn() -> list[str]:
    """Graphs of seven nodes drawn at random, the same in every run."""
    draw, names = random.Random("06.5"), "xabcdefg"
    found = []
    for _ in range(RANDOM):
        used = [draw.choices(names[:place], k=draw.randint(1, 3)) for place in range(1, len(names))]
        lines = [f"{name}: {' '.join(given)}" for name, given in zip(names[1:], used, strict=True)]
        found.append(", ".join([*lines, f"output: {' '.join(draw.choices(names, k=2))}"]))
    return found


def by_definition(made: Graph) -> dict[str, list[str]]:
    """The last uses, found by asking of each use whether a later node uses the same result."""
    nodes = list(made.nodes)
    found: dict[str, list[str]] = {}
    for place, user in enumerate(nodes):
        for value in user.all_input_nodes:
            if not any(value in later.all_input_nodes for later in nodes[place + 1 :]):
                found.setdefault(user.name, []).append(value.name)
    return found


def names(value: object) -> object:
    """The returned dict with names in place of nodes, with their lists in order."""
    if not isinstance(value, dict):
        return value
    return {str(user): [*map(str, used)] for user, used in value.items()}


def judge(ask: Ask, text: str, because: str) -> None:
    """Ask about a graph."""
    made = graph(text)
    asked = f"which values each node is the last to use, where the nodes use in turn: {text}"
    expect(ask("last_uses", made.nodes), by_definition(made), read=names, asked=asked, because=because)


def test_values_with_several_uses(ask: Ask) -> None:
    """which values each node is the last to use"""
    for text in SMALL:
        judge(ask, text, "a value may be freed after the last node that uses it, and not before")


def test_what_is_returned(ask: Ask) -> None:
    """the last use of values that a graph returns"""
    for text in RETURNED:
        judge(ask, text, "the output is a node that uses what it returns")


def test_a_value_used_twice_by_one_node(ask: Ask) -> None:
    """the last use of values that one node uses twice"""
    for text in TWICE:
        judge(ask, text, "a node that uses a value in two places frees it once")


def test_values_that_are_not_used(ask: Ask) -> None:
    """graphs with values that are not used"""
    for text in UNUSED:
        judge(ask, text, "a value without a use is in no list, and a node that frees nothing has no entry")


def test_graphs_drawn_at_random(ask: Ask) -> None:
    """the last uses in graphs of nine nodes"""
    for text in drawn():
        judge(ask, text, "each list is in the order in which its node names its inputs")
