"""Is a graph of FX drawn in its order, with who uses what, and with the nodes that are marked?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
import workbook
from glasstorch import fx, nn
from glasstorch.fx.experimental.proxy_tensor import make_fx
from tests.book.test_live_figures import words
from workbook.book.cells import draw_nodes
from workbook.book.figures import nodes


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.scale = nn.Parameter(glasstorch.ones(2))

    def forward(self, x: Any, w: Any) -> Any:
        return glasstorch.clamp(self.layer(x).relu() * self.scale, max=w)


def test_each_kind_of_node_is_written_as_python_would() -> None:
    said = words(nodes.draw(fx.symbolic_trace(Small()).graph))
    assert said == [
        "takes x, w",
        "layer = self.layer(x)",
        "relu = layer.relu()",
        "scale = self.scale",
        "mul = mul(relu, scale)",
        "clamp = clamp(mul, max=w)",
        "return clamp",
    ]


def test_an_operator_is_written_without_its_overload() -> None:
    graph = make_fx(lambda x: x.exp() @ x)(glasstorch.ones(2, 2)).graph
    assert words(nodes.draw(graph))[1:3] == ["exp = exp(x_1)", "mm = mm(exp, x_1)"]


def test_a_result_that_is_used_further_down_has_an_arrow_beside_the_boxes() -> None:
    graph = fx.symbolic_trace(lambda x: (x + 1) * (x - 1)).graph
    *_, sub, mul, output = graph.nodes
    used = len(nodes.draw(graph).parts)
    mul.args = (sub, sub)
    assert len(nodes.draw(graph).parts) == used - 1  # the arrow from `add`, which nothing uses now
    assert output.args == (mul,)


def test_marked_nodes_are_named_in_the_description() -> None:
    graph = fx.symbolic_trace(lambda x: (x + 1) * 2).graph
    _, add, mul, _ = graph.nodes
    assert "mul = mul(add, 2), runs later. return mul." in nodes.draw(graph, [mul], "runs later").description
    assert "g-torch" not in "".join(nodes.draw(graph).parts)
    assert "g-torch" in "".join(nodes.draw(graph, [add]).parts)


def test_a_long_line_is_cut() -> None:
    graph = fx.symbolic_trace(lambda x: x.view(*range(40))).graph
    assert words(nodes.draw(graph))[1] == "view = x.view(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,…"


def long(x: Any) -> Any:
    for _ in range(40):
        x = x + 1
    return x


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match=r"holds 27 nodes, the graph has 40 besides inputs; print it"):
        draw_nodes(fx.symbolic_trace(long).graph)
    with pytest.raises(TypeError, match=r"its first argument is of type Small\n  accepted: a graph of torch.fx"):
        draw_nodes(Small())  # type: ignore[arg-type]


def test_a_notebook_of_the_readers_own_has_it() -> None:
    assert workbook.draw_nodes is draw_nodes
