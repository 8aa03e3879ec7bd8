"""Is each value kept that backward needs, and no other?"""

import random
from collections.abc import Sequence

from glasstorch.fx import Graph, GraphModule, Node
from glasstorch.nn import Module
from workbook.book.altering import altered
from workbook.exercises.asking import Ask, expect

EXTRACT = "_extract_fwd_bwd_modules"

# f and b: a node of forward or backward with what it uses; p and t: a primal and a tangent; c: a constant; then the
# function's results, and the gradients.
USED = ("p x; t t; f a: x; b g: t a; a | g", "p x; t t; f a: x; f b: a; b g: t a; b h: g a b; b | h")
INPUTS = ("p x; p w; t t; f a: x w; b g: t w; b h: t x; a | g h", "p x; p w; t t; f a: x w; b g: t w; a | g")
RESULTS = ("p x; t t; f a: x; f b: a; b g: t; b | g", "p x; t t; f a: x; b g: t x; a x | g")
CONSTANTS = ("p x; t t; c k; f a: x k; b g: t k; a | g", "p x; t t; c k; f a: k; f b: x a; b g: t k a; b | g")
RANDOM = 40  # graphs


def joint(text: str) -> tuple[GraphModule, int]:
    """The joint module of a text, and the number of its results."""
    *lines, returned = text.split("; ")
    graph, nodes = Graph(), {}
    root = Module()
    for line in lines:
        kind, _, rest = line.partition(" ")
        name, _, used = rest.partition(": ")
        args = tuple(nodes[one] for one in used.split())
        if kind in "pt":
            nodes[name] = graph.create_node(
                "placeholder", f"{'tangents' if kind == 't' else 'primals'}_{name}", name=name
            )
        elif kind == "c":
            setattr(root, name, 1.0)
            nodes[name] = graph.create_node("get_attr", name, name=name)
        else:
            nodes[name] = graph.create_node("call_function", max, args, name=name)
        nodes[name].meta["partitioner_tag"] = "is_backward" if kind == "b" else "is_forward"
    results, gradients = ([nodes[name] for name in half.split()] for half in returned.split("|"))
    graph.output((results, gradients))
    return GraphModule(root, graph), len(results)


def by_definition(text: str) -> list[str]:
    """The names of the values that are kept, read in the text."""
    lines = text.split("; ")[:-1]
    made = [line.split(":")[0].split()[1] for line in lines if line[0] in "fp"]
    used = {name for line in lines if line[0] == "b" for name in line.partition(": ")[2].split()}
    return [name for name in made if name in used]


def drawn() -> list[str]:
    """Joint graphs of ten nodes drawn at random, the same in every run."""
    draw = random.Random("06.6")
    found = []
    for _ in range(RANDOM):
        lines, before, forward = ["p x", "p w", "t t"], ["x", "w"], "abcd"
        for name in forward:
            lines.append(f"f {name}: {' '.join(draw.choices(before, k=2))}")
            before.append(name)
        before.append("t")
        for name in "ghk":
            lines.append(f"b {name}: {' '.join(draw.choices(before, k=2))} t")
            before.append(name)
        found.append("; ".join([*lines, f"d {draw.choice('abc')} | g h k"]))
    return found


def judge(ask: Ask, text: str, because: str) -> None:
    """Ask about a joint graph, and look at what is given to `_extract_fwd_bwd_modules`."""
    module, results = joint(text)
    extract = ask.get(EXTRACT)
    given: list[list[str]] = []

    def noting(joint_module: GraphModule, kept: Sequence[Node], **options: int) -> object:
        given.append([str(node) for node in kept])
        return extract(joint_module, kept, **options)

    with altered(ask.answer, EXTRACT, noting):
        came = ask("default_partition", module, None, num_fwd_outputs=results)
    asked = (
        f"the names of the values that are kept, as they are given to {EXTRACT}, of this joint graph, with f for "
        f"a node of forward, b for one of backward, p, t and c for primals, tangents and constants: {text}"
    )
    expect(came, by_definition(text), read=lambda _: given[0] if given else None, asked=asked, because=because)


def test_what_backward_uses(ask: Ask) -> None:
    """the values of forward that backward uses"""
    for text in USED:
        judge(ask, text, "forward makes it, and a node of backward uses it")


def test_arguments_of_the_function(ask: Ask) -> None:
    """joint graphs whose backward part uses arguments of the function"""
    for text in INPUTS:
        judge(ask, text, "backward gets an argument only if it is kept; a tangent it has already")


def test_results(ask: Ask) -> None:
    """joint graphs whose results backward does not use"""
    for text in RESULTS:
        judge(ask, text, "the output takes a result, but that is no use by backward")


def test_constants(ask: Ask) -> None:
    """joint graphs with constants"""
    for text in CONSTANTS:
        judge(ask, text, "both parts can fetch a constant")


def test_graphs_drawn_at_random(ask: Ask) -> None:
    """joint graphs of ten nodes"""
    for text in drawn():
        judge(ask, text, "each value is kept once, in the order of the joint graph")
