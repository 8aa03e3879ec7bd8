"""Do figures show the objects that they are drawn from?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

import glasstorch
from glasstorch.dispatch.trace import trace
from workbook.book.cells import show_curves, show_graph, show_images, show_memory, show_trace
from workbook.book.figures import curves, graph, hops, images, memory
from workbook.book.figures.kit import Figure
from workbook.book.figures.live import Drawing


def words(figure: Figure) -> list[str]:
    """The texts of a figure, in the order in which they were drawn."""
    svg = ElementTree.fromstring(figure.svg())
    return [element.text or "" for element in svg.iter("{http://www.w3.org/2000/svg}text")]


def leaf(*values: float) -> Any:
    return glasstorch.tensor(values, requires_grad=True)


# --- hops ---------------------------------------------------------------------------------------------------


def test_a_trace_is_drawn_with_its_keys_rules_files_and_what_was_passed_by() -> None:
    with trace() as recorded:
        leaf(1.0) + leaf(2.0)
    said = words(hops.draw(recorded))
    assert said[:4] == ["aten::add.Tensor", "AutogradCPU", "autograd kernel", "autograd/generated/autograd_kernels.py"]
    assert said[4] == "passing by ADInplaceOrView, BackendSelect"
    assert said[5:7] == ["CPU", "kernel"]


def test_a_call_made_by_a_kernel_stands_further_to_the_right() -> None:
    with trace() as recorded:
        glasstorch.nn.functional.linear(leaf(1.0), leaf(2.0).view(1, 1))
    nested = [hops.outer(recorded, hop) for hop in recorded]
    assert nested[0] == 0
    assert max(nested) == 1
    for hop, outer in zip(recorded, nested, strict=True):
        if hop.operator == "aten::linear":
            assert outer == 0


@pytest.mark.parametrize(
    ("where", "file"),
    [
        ("kernels/cpu/pointwise.py:12", "kernels/cpu/pointwise.py"),
        ("Cell In[3]:2", "a cell of this notebook"),
        ("/anywhere/else/mine.py:2", "mine.py"),
    ],
)
def test_a_file_is_named_as_it_is_the_same_on_each_machine(where: str, file: str) -> None:
    assert hops.place(where) == file


# --- graph --------------------------------------------------------------------------------------------------


def test_a_graph_is_drawn_with_what_its_nodes_keep() -> None:
    w = leaf(1.0, 2.0)
    loss = (w * glasstorch.ones(2) + w).sum()
    figure = graph.draw(loss, {"w": w})
    said = words(figure)
    assert [word for word in said if word.endswith(("0", "Grad"))] == [
        "SumBackward0",
        "AddBackward0",
        "MulBackward0",
        "AccumulateGrad",
    ]
    assert {"keeps other", "adds to w.grad", "None"} <= set(said)
    assert figure.svg().count("marker-end") == 5  # the way in, and four edges
    assert "MulBackward0 keeps other and leads to AccumulateGrad and nowhere" in figure.description


def test_a_leaf_without_a_name_is_told_by_its_sizes() -> None:
    assert "a leaf of sizes (2,)" in words(graph.draw(leaf(1.0, 2.0).sum(), {}))


def test_each_node_stands_below_all_that_lead_to_it() -> None:
    w = leaf(1.0)
    hidden = w.exp()
    boxes = graph.boxes_below((hidden.exp().exp() * hidden + w).grad_fn, {})
    for box in boxes.values():
        for target, _ in box.node.next_functions:
            assert target is None or boxes[target].level > box.level


# --- memory -------------------------------------------------------------------------------------------------


def test_memory_is_numbered_in_reading_order() -> None:
    said = words(memory.draw(glasstorch.arange(6.0).view(2, 3).t()))
    assert said[0] == "sizes (3, 2), strides (1, 3), offset 0"
    assert said[1::2] == ["0.", "1.", "2.", "3.", "4.", "5."]
    assert said[2::2] == ["0", "2", "4", "1", "3", "5"]


def test_a_cell_may_be_read_many_times_or_never() -> None:
    assert "0, 2, 4" in words(memory.draw(glasstorch.arange(2).expand(3, 2)))
    figure = memory.draw(glasstorch.arange(4)[2:])
    assert "cell 0 holds 0, not read; " in figure.description
    assert figure.svg().count('class="g-box g-glass"') == 2


@pytest.mark.parametrize(("value", "text"), [(2.0, "2."), (0.5, "0.5"), (1234.5, "1.23e+03"), (7, "7"), (True, "True")])
def test_a_value_is_told_shortly(value: object, text: str) -> None:
    assert memory.text_of(value) == text


# --- curves and images --------------------------------------------------------------------------------------


def test_curves_share_one_scale_that_begins_at_zero() -> None:
    figure = curves.draw({"ours": [3.0, 1.0], "theirs": [2.0, 1.0, 0.5]}, "step", "loss")
    said = words(figure)
    assert said[:4] == ["0", "1", "2", "3"]
    assert {"ours", "theirs", "step", "loss"} <= set(said)
    lines = re.findall(r'class="g-line g-(?:glass|torch)-line[^"]*" d="([^"]+)"', figure.svg())
    assert [line.count("L") for line in lines] == [1, 2]
    assert lines[0].startswith(f"M{curves.LEFT} {curves.TOP}")


def test_images_are_drawn_in_shades_of_ink_with_their_captions() -> None:
    figure = images.draw([[[0.0, 1.0], [0.5, 0.0]]] * 11, [str(n) for n in range(11)])
    assert words(figure) == [str(n) for n in range(11)]
    opacities = re.findall(r'class="g-pixels" fill-opacity="([^"]+)"', figure.svg())
    assert opacities == ["0.5", "1"] * 11
    assert figure.height == 2 * images.draw([[[0.0], [0.0]]], ["0"]).height


# --- all of them --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: hops.draw(trace_of(0)), "1 to 24 hops, the trace has 0"),
        (lambda: hops.draw(trace_of(13)), "the trace has 26"),
        (lambda: graph.draw(glasstorch.ones(1), {}), "no graph below it"),
        (lambda: graph.draw(sum((leaf(1.0) for _ in range(40)), start=leaf(1.0)), {}), "this graph has more"),
        (lambda: memory.draw(glasstorch.zeros(49)), "1 to 48 cells, this storage has 49"),
        (lambda: curves.draw({}, "x", "y"), "1 to 2 series of at least 2 numbers"),
        (lambda: curves.draw({"a": [1.0]}, "x", "y"), "at least 2 numbers"),
        (lambda: images.draw([[[0.0]]], []), "got 1 images and 0 captions"),
    ],
)
def test_what_does_not_fit_a_figure_is_refused(draw: Callable[[], Figure], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        draw()


def trace_of(additions: int) -> Any:
    one = glasstorch.ones(1)
    with trace() as recorded:
        for _ in range(additions):
            one + one
    return recorded


def test_where_there_is_no_notebook_the_description_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    w = leaf(1.0, 2.0)
    show_trace(trace_of(1))
    show_graph(w.sum(), w=w)
    show_memory(w)
    show_curves({"a": [1.0, 0.0]}, "step", "loss")
    show_images([[[0.0]]], ["0"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(".")[0] for line in lines] == [
        "The hops of a call",
        "A backward graph",
        "A tensor's storage",
        "loss over step",
        "1 small images",
    ]


def test_a_notebook_gets_the_figure_and_its_description() -> None:
    assert Drawing("<svg/>", "What is drawn.")._repr_mimebundle_() == {
        "image/svg+xml": "<svg/>",
        "text/plain": "What is drawn.",
    }
