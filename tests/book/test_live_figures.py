"""Do figures show the objects that they are drawn from?"""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy
import pytest

import glasstorch
from glasstorch.dispatch.trace import trace
from tests.book.small_book import ROOT
from workbook.book.cells import draw_graph, show_curves, show_images, show_memory, show_trace
from workbook.book.figures import curves, graph, hops, images, memory
from workbook.book.figures.kit import Figure
from workbook.book.figures.live import Drawing
from workbook.book.figures.names import tensors_by_name


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
    assert said[4] == "fallthrough at ADInplaceOrView, BackendSelect"
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
        ("kernels/cpu/pointwise/loops.py:12", "kernels/cpu/pointwise/loops.py"),
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
    levels = graph.levels_below((hidden.exp().exp() * hidden + w).grad_fn)
    assert list(levels.values()) == sorted(levels.values())
    for node, level in levels.items():
        for target, _ in node.next_functions:
            assert target is None or levels[target] > level


def test_a_leaf_is_called_as_the_callers_variable_or_as_the_parameter_of_a_module() -> None:
    w, _hidden, model = leaf(1.0), leaf(2.0), glasstorch.nn.Linear(1, 1)
    found = tensors_by_name({"_hidden": _hidden, "model": model}, {"w": w, "late": w, "number": 3})
    assert list(found) == ["w", "late", "model.weight", "model.bias"]
    assert found["w"] is w
    assert found["model.bias"] is model.bias


def test_of_a_long_graph_the_beginning_is_drawn_and_the_rest_counted() -> None:
    end = leaf(1.0)
    for number in range(40):
        end = end.exp() if number.bit_count() % 2 else end.sin()  # Thue and Morse: no part stands three times in a row
    figure = graph.draw(end, {})
    said = words(figure)
    assert said.count("ExpBackward0") + said.count("SinBackward0") == 30
    assert said[-1] == "11 more nodes not drawn"
    assert said.count("...") == 1
    assert figure.description.endswith("leads to 1 node not drawn. There are 11 more nodes not drawn.")


def test_a_part_that_repeats_is_drawn_once() -> None:
    end = leaf(1.0)
    for _ in range(40):
        end = end.exp()
    said = words(graph.draw(end, {"end": end}))
    assert said.count("ExpBackward0") == 2  # the one that stands for the others, and the last, which leads to the leaf
    assert "the same 38 times more" in said
    assert "AccumulateGrad" in said
    assert not any("not drawn" in word for word in said)


def test_a_caller_may_ask_for_more_boxes_up_to_a_limit() -> None:
    end = leaf(1.0)
    for _ in range(40):
        end = end.exp()
    assert words(graph.draw(end, {}, most=60)).count("ExpBackward0") == 40
    with pytest.raises(ValueError, match="accepted: 1 to 200"):
        graph.draw(end, {}, most=201)


def test_of_a_broad_graph_some_nodes_of_each_level_are_drawn() -> None:
    figure = graph.draw(glasstorch.stack([leaf(1.0) * 2 for _ in range(20)]), {})
    said = words(figure)
    assert said.count("MulBackward0") == said.count("AccumulateGrad") == 8
    assert said[-1] == "24 more nodes not drawn"
    assert said.count("...") == 1


def test_a_graph_that_is_cut_has_no_node_without_a_way_to_it() -> None:
    ends = [leaf(float(number)) for number in range(12)]
    late = ends[11].exp().exp()
    every = graph.levels_below((glasstorch.stack(ends[:10] + [late.exp(), late]).sum() * late.exp()).grad_fn)
    kept = graph.kept_nodes(every)
    first = next(iter(every))
    drawn = graph.levels_below(first, among=kept)
    assert set(drawn) == kept
    assert len(kept) < len(every)
    for node, level in drawn.items():
        above = [other for other in kept if node in graph.targets_of(other)]
        assert node is first or level == 1 + max(drawn[other] for other in above)


def test_a_node_that_has_run_has_let_go_of_what_it_kept() -> None:
    w = leaf(1.0, 2.0)
    loss = (w * w).sum()
    loss.backward()
    said = words(graph.draw(loss, {}))
    assert said[1:5] == ["SumBackward0", "keeps no tensor", "MulBackward0", "has released what it kept"]


def test_a_custom_function_tells_how_many_tensors_it_keeps() -> None:
    class Square(glasstorch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * grad

    squared = Square.apply(leaf(3.0))
    assert "keeps 1 tensor" in words(graph.draw(squared, {}))
    squared.backward()
    assert "has released what it kept" in words(graph.draw(squared, {}))


def test_the_way_of_an_edge_past_other_boxes_and_a_graph_of_one_node_are_drawn() -> None:
    w = leaf(1.0)
    assert words(graph.draw(w.exp(), {"w": w}))[-2:] == ["AccumulateGrad", "adds to w.grad"]


# --- memory -------------------------------------------------------------------------------------------------


def test_memory_is_numbered_in_reading_order() -> None:
    said = words(memory_of(glasstorch.arange(6.0).view(2, 3).t()))
    assert said[0] == "sizes (3, 2), strides (1, 3), offset 0"
    assert said[1::2] == ["0.", "1.", "2.", "3.", "4.", "5."]
    assert said[2::2] == ["0", "2", "4", "1", "3", "5"]


def test_a_cell_may_be_read_many_times_or_never() -> None:
    assert "0, 2, 4" in words(memory_of(glasstorch.arange(2).expand(3, 2)))
    figure = memory_of(glasstorch.arange(4)[2:])
    assert "cell 0 holds 0, not read; " in figure.description
    assert figure.svg().count('class="g-box g-glass"') == 2


def test_views_of_one_storage_share_its_cells_and_have_a_row_each() -> None:
    x = glasstorch.arange(4).view(2, 2)
    figure = memory.draw({"x": x, "turned": x.t()})
    said = words(figure)
    assert said[:4] == [
        "sizes (2, 2), strides (2, 1), offset 0",
        "x",
        "sizes (2, 2), strides (1, 2), offset 0",
        "turned",
    ]
    assert said[4:] == ["0", "x", "0", "turned", "0", "1", "1", "2", "2", "2", "1", "3", "3", "3"]
    assert "cell 1 holds 1, read as element 1 of x, element 2 of turned; " in figure.description
    assert figure.title == "A storage and 2 tensors that read it"


@pytest.mark.parametrize(
    ("tensor", "cells", "note"),
    [
        (glasstorch.tensor(3), ["3", "0"], None),
        (glasstorch.tensor([True, False]), ["True", "0", "False", "1"], None),
        (glasstorch.tensor([-(2**62)]), ["-4611686018427387904", "0"], None),
        (glasstorch.zeros(0), [], "an empty storage: it has no cell"),
        (glasstorch.zeros(2)[1:1], ["0.", "0."], "no element, so no cell is read"),
    ],
)
def test_small_and_empty_tensors_are_drawn(tensor: Any, cells: list[str], note: str | None) -> None:
    assert words(memory_of(tensor))[1:] == cells + ([note] if note else [])


def test_of_a_large_storage_the_beginning_of_the_tensor_is_drawn() -> None:
    figure = memory_of(glasstorch.arange(1_000_000).view(1000, 1000)[500:, 3:])
    said = words(figure)
    assert said[1:3] == ["500003", "0"]
    assert said[-1] == "cells 500,003 to 500,050 of 0 to 999,999; 999,952 not drawn"
    assert figure.description.endswith(f"{said[-1]}.")
    assert words(memory_of(glasstorch.zeros(100)[90:]))[-1] == "cells 52 to 99 of 0 to 99; 52 not drawn"


def test_a_cell_with_many_readers_names_the_first_and_counts_the_rest() -> None:
    figure = memory_of(glasstorch.tensor(2).expand(1000, 1000, 100))
    assert words(figure)[-1] == "0, 1, 2, ... (100,000,000)"
    assert "read as 100,000,000 elements, the first of them 0, 1, 2" in figure.description


@pytest.mark.parametrize(
    ("sizes", "strides", "offset"),
    [((6, 3), (2, 1), 4), ((2, 3, 4), (0, 5, 1), 1), ((3, 2, 2), (7, 0, 3), 0), ((), (), 20), ((4, 9), (1, 1), 3)],
)
def test_readers_are_those_that_a_walk_over_all_elements_finds(
    sizes: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> None:
    window = range(2, 12)
    walked: dict[int, list[int]] = {}
    for number, index in enumerate(itertools.product(*map(range, sizes))):
        cell = offset + sum(i * step for i, step in zip(index, strides, strict=True))
        if cell in window:
            walked.setdefault(cell, []).append(number)
    found = memory.readers_in(window, sizes, strides, offset)
    assert {cell: of.first for cell, of in found.items()} == walked
    assert {cell: of.count for cell, of in found.items()} == {cell: len(of) for cell, of in walked.items()}


def test_a_tensor_is_called_as_the_callers_variable(capsys: pytest.CaptureFixture[str]) -> None:
    x = glasstorch.arange(4)
    show_memory(x, x[1:], last=x[3:])
    show_memory(x, x)
    first, second = capsys.readouterr().out.splitlines()
    for name in ("x: sizes (4,)", "tensor 2: sizes (3,)", "last: sizes (1,)"):
        assert name in first
    assert "x: sizes (4,)" in second
    assert "tensor 2: sizes (4,)" in second


def memory_of(tensor: Any) -> Figure:
    return memory.draw({"it": tensor})


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


def test_large_counts_are_written_out_on_the_scale() -> None:
    assert words(curves.draw({"a": [0.0, 75_000.0]}, "x", "y"))[:5] == ["0", "20000", "40000", "60000", "80000"]


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
        (lambda: draw_graph(glasstorch.ones(1)), "no graph below this tensor: nothing that it was computed from"),
        (
            lambda: draw_graph(leaf(1.0)),
            "no graph below this tensor: it is a leaf\n  accepted: the result of",
        ),
        (lambda: show_memory(leaf(1.0), leaf(1.0)), "tensor 1 and tensor 2 do not share a storage\n  accepted: one"),
        (lambda: show_memory(glasstorch.ones(2, device="meta")), "tensor 1 is on the device meta: it has sizes"),
        (lambda: show_memory(*two_dtypes()), "reads the storage as torch.float32, tensor 2 as torch.int32"),
        (lambda: curves.draw({}, "x", "y"), "1 to 2 series of at least 2 numbers"),
        (lambda: curves.draw({"a": [1.0]}, "x", "y"), "at least 2 numbers"),
        (lambda: images.draw([[[0.0]]], []), "got 1 images and 0 captions"),
    ],
)
def test_what_does_not_fit_a_figure_is_refused(draw: Callable[[], Figure], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        draw()


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (lambda: draw_graph(3), "draw_graph: its first argument is of type int\n  accepted: a tensor of glasstorch"),
        (lambda: draw_graph(leaf(1.0).exp(), w=[1]), "draw_graph: w is of type list"),
        (lambda: show_memory(leaf(1.0), numpy.ones(1)), "show_memory: tensor 2 is of type numpy.ndarray"),
        (lambda: show_memory(), "show_memory() was given nothing to draw"),
    ],
)
def test_what_is_no_tensor_is_refused(draw: Callable[[], None], said: str) -> None:
    with pytest.raises(TypeError, match=re.escape(said)):
        draw()


def two_dtypes() -> tuple[Any, Any]:
    array = numpy.ones(2, numpy.float32)
    return glasstorch.from_numpy(array), glasstorch.from_numpy(array.view(numpy.int32))


def trace_of(additions: int) -> Any:
    one = glasstorch.ones(1)
    with trace() as recorded:
        for _ in range(additions):
            one + one
    return recorded


def test_where_there_is_no_notebook_the_description_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    w = leaf(1.0, 2.0)
    show_trace(trace_of(1))
    draw_graph(w.sum())
    show_memory(w)
    show_curves({"a": [1.0, 0.0]}, "step", "loss")
    show_images([[[0.0]]], ["0"])
    lines = capsys.readouterr().out.splitlines()
    assert "AccumulateGrad adds to w.grad" in lines[1]
    assert [line.split(".")[0] for line in lines] == [
        "The hops of a call",
        "A backward graph",
        "A tensor's storage",
        "loss over step",
        "1 small images",
    ]


def test_a_notebook_gets_the_figure_as_an_image_with_its_description() -> None:
    svg = '<svg class="a">\n<text>1 < 2 & 3 # é %</text>\n</svg>\n'
    data = Drawing(svg, 'What is "drawn".')._repr_mimebundle_()
    assert data["image/svg+xml"] == svg
    assert data["text/plain"] == 'What is "drawn".'
    image = ElementTree.fromstring(data["text/html"].replace(">", "/>"))
    assert image.get("alt") == 'What is "drawn".'
    assert unquote((image.get("src") or "").removeprefix("data:image/svg+xml,")) == svg.replace("\n", "")


def test_a_reader_imports_the_figures_by_a_short_name() -> None:
    import workbook

    assert workbook.draw_graph is draw_graph
    assert workbook.show_memory is show_memory
    assert {"draw_graph", "show_memory"} <= set(dir(workbook))
    with pytest.raises(AttributeError, match="module 'workbook' has no attribute 'draw_everything'"):
        workbook.draw_everything  # noqa: B018


def test_the_command_starts_without_the_figures() -> None:
    code = "import sys, workbook; print([name for name in sys.modules if name.startswith(('workbook.', 'glasstorch'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "[]\n"
