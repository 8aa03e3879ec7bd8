"""Is the graph of a program drawn in its order, with who uses what and who must stay behind whom?"""

from __future__ import annotations

import re
from typing import Any

import pytest

import glasstorch
import workbook
from glasstorch.jit.ir import Graph
from glasstorch.jit.parser import parse_ir
from tests.book.test_live_figures import words
from workbook.book.cells import draw_program
from workbook.book.figures import program


def graph_of(*nodes: str, returns: str = "%r") -> Graph:
    lines = [node.replace(" =", " : Tensor =", 1) for node in nodes]
    return parse_ir("\n".join(["graph(%x : Tensor, %w : Tensor, %c : bool):", *lines, f"return ({returns})"]))


def behind(graph: Graph) -> list[str]:
    """What the figure says of nodes that stay behind others because of memory."""
    return [said for said in program.draw(graph).description.rstrip(".").split(". ") if said.startswith("Because")]


def test_nodes_are_drawn_in_their_order_with_constants_where_they_are_used() -> None:
    graph = glasstorch.jit.trace(lambda x: (x * 2).view(1, 2) + 1, glasstorch.ones(2)).graph
    said = [re.sub(r"%\d+", "%", word) for word in words(program.draw(graph))]
    assert said == ["takes %x", "% = mul(%x, 2)", "% = view(%, [1, 2])", "% = add(%, 1)", "return %"]  # not its alpha


def test_a_group_is_drawn_with_what_is_in_it() -> None:
    example = glasstorch.ones(2)
    graph = glasstorch.jit.trace(lambda x: x.exp().neg().sum(), example).graph_for(example)
    said = [re.sub(r"%\d+", "%", word) for word in words(program.draw(graph))]
    assert said[1:4] == ["% = FusionGroup(%x)", "% = exp(%x)", "% = neg(%)"]


def test_a_write_keeps_those_apart_that_know_its_memory() -> None:
    graph = graph_of("%a = aten::exp(%w)", "%v = aten::neg(%x)", "%m = aten::relu_(%x)", "%r = aten::mul(%a, %x)")
    assert behind(graph) == [
        "Because of memory %m = relu_(%x) stays behind %a = exp(%w)",  # two inputs may be one tensor
        "Because of memory %m = relu_(%x) stays behind %v = neg(%x)",
        "Because of memory %r = mul(%a, %x) stays behind %m = relu_(%x)",
    ]
    assert "%m = relu_(%x), writes to memory" in program.draw(graph).description


def test_an_order_that_follows_from_others_is_not_drawn() -> None:
    nodes = ("%a = aten::neg(%x)", "%v = aten::t(%a)", "%m = aten::relu_(%v)", "%r = aten::exp(%a)")
    assert behind(graph_of(*nodes)) == ["Because of memory %r = exp(%a) stays behind %m = relu_(%v)"]


def test_an_order_that_follows_from_two_others_is_not_drawn() -> None:
    nodes = ("%a = aten::relu_(%x)", "%b = aten::tanh_(%x)", "%d = aten::sigmoid_(%x)", "%r = aten::exp(%w)")
    kept = [said.partition("memory ")[2] for said in behind(graph_of(*nodes))]
    assert kept == [
        "%b = tanh_(%x) stays behind %a = relu_(%x)",
        "%d = sigmoid_(%x) stays behind %b = tanh_(%x)",
        "%r = exp(%w) stays behind %d = sigmoid_(%x)",
    ]


def test_writers_and_what_memory_orders_have_a_colour_of_their_own() -> None:
    nodes = ("%a = aten::neg(%w)", "%b = aten::exp(%a)", "%m = aten::relu_(%x)", "%r = aten::mul(%b, %a)")
    svg = program.draw(graph_of(*nodes)).svg()
    assert re.findall(r'class="g-box g-(\w+)', svg) == ["glass", "glass", "torch", "glass", "plain"]
    lines = re.findall(r'class="g-line ([^"]*)" d="([^"]*)"', svg)
    corners = [(kind, way.count("L")) for kind, way in lines]
    # Right: from neg and exp to mul; between neighbours: neg to exp, mul to return. Left: the write, behind neg.
    assert sorted(corners) == [
        *(("g-glass-line", 1), ("g-glass-line", 1), ("g-glass-line", 3), ("g-glass-line", 3)),
        ("g-torch-line g-dashed", 3),
    ]


def test_arcs_that_run_beside_each_other_have_lanes_of_their_own() -> None:
    nodes = ("%a = aten::neg(%x)", "%b = aten::exp(%x)", "%d = aten::mul(%a, %w)", "%r = aten::mul(%b, %d)")
    boxes = [program.Box(node, [], writes=False) for node in graph_of(*nodes).nodes]
    arcs = program.in_lanes(program._uses(boxes))
    assert [(arc.first, arc.last) for arc in arcs] == [(0, 2), (1, 3), (2, 3)]
    assert arcs[0].lane != arcs[1].lane


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (
            lambda: draw_program(glasstorch.ones(1)),
            "draw_program: its argument is of type Tensor\n  accepted: the graph",
        ),
        (lambda: draw_program(long_graph()), "a figure holds 23 nodes, the graph has 24 besides constants"),
        (lambda: draw_program(graph_with_a_branch()), "without branches and loops"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Any, said: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        draw()
    assert said in str(caught.value)


def long_graph() -> Graph:
    return graph_of(*(f"%v{i} = aten::neg(%x)" for i in range(24)), returns="%x")


def graph_with_a_branch() -> Graph:
    return graph_of("%r = prim::If(%c)\nblock0():\n-> (%x)\nblock1():\n-> (%w)")


def test_a_notebook_of_the_readers_own_has_it() -> None:
    assert workbook.draw_program is draw_program
