"""Do the figures of tables, lanes and bars show what they are given, and refuse what does not fit?"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import glasstorch as torch
import workbook
from tests.book.test_live_figures import words
from workbook.book.cells import show_bars, show_lanes, show_table
from workbook.book.figures import bars, lanes, table
from workbook.book.figures.kit import Figure


def boxes(figure: Figure) -> list[dict[str, str]]:
    """The attributes of a figure's boxes, in the order in which they were drawn."""
    svg = ElementTree.fromstring(figure.svg())
    return [element.attrib for element in svg.iter("{http://www.w3.org/2000/svg}rect")]


def test_a_table_has_the_highest_key_on_top_whatever_the_order_of_the_question() -> None:
    keys = ("Python", "CPU", "AutogradCPU", "FuncTorchBatched", "Meta", "ADInplaceOrView")
    ordered = ["FuncTorchBatched", "AutogradCPU", "ADInplaceOrView", "Python", "Meta", "CPU"]
    assert [entry.key for entry in table.entries("aten::add.Tensor", keys)] == ordered


def test_an_entry_says_what_it_holds_and_which_file_registered_it() -> None:
    assert table.entries("aten::add.Tensor", ["CPU", "AutogradCPU", "AutocastCPU"]) == [
        table.Entry("AutocastCPU", "backend fallback", "dispatch/fallback.py"),
        table.Entry("AutogradCPU", "autograd kernel", "autograd/generated/autograd_kernels.py"),
        table.Entry("CPU", "kernel", "kernels/cpu/pointwise/shared.py"),
    ]


def test_a_new_registration_is_drawn_and_an_entry_without_a_kernel_is_empty() -> None:
    library = torch.library.Library("drawn", "DEF")
    library.define("once(Tensor x) -> Tensor")
    before = table.draw("drawn::once", ["CPU", "CUDA"])
    assert words(before) == ["CUDA", table.NO_KERNEL, "CPU", table.NO_KERNEL]
    assert ["g-dashed" in box["class"] for box in boxes(before)] == [True, True]
    library.impl("once", lambda x: x.clone(), "CPU")
    after = table.draw("drawn::once", ["CPU", "CUDA"])
    # A file outside the library is told by its name: a folder of this machine has no place in a figure.
    assert words(after) == ["CUDA", table.NO_KERNEL, "CPU", "kernel", "test_plain_figures.py"]
    assert ["g-glass" in box["class"] for box in boxes(after)] == [False, True]
    library._destroy()


def test_a_step_stands_below_what_comes_before_it_and_no_lower() -> None:
    steps = [("default", "x"), ("side", "y"), ("default", "w"), ("side", "y2"), ("default", "z")]
    drawn = lanes.draw(steps, [(0, 1), (3, 4)])
    tops = [float(box["y"]) for box in boxes(drawn)]
    rows = [round((top - tops[0]) / (lanes.BOX + lanes.BETWEEN)) for top in tops]
    assert rows == [0, 1, 1, 2, 3]
    assert ["g-torch" in box["class"] for box in boxes(drawn)] == [False, True, False, False, True]
    assert words(drawn)[:2] == ["default", "side"]


def test_the_description_says_who_waits_for_whom() -> None:
    drawn = lanes.draw([("a", "one"), ("b", "two")], [(0, 1)])
    assert drawn.description == "a: one; b: two. two waits for one."


@pytest.mark.parametrize(
    ("steps", "waits", "said"),
    [
        ([], [], "holds 1 to 5 lanes"),
        ([(str(number), "x") for number in range(6)], [], "these steps have 6: 0, 1"),
        ([("a", "x"), ("b", "y")], [(1, 0)], "step 0 cannot wait for step 1"),
        ([("a", "x"), ("b", "y")], [(0, 2)], "step 2 cannot wait for step 0"),
        ([("a", "x"), ("a", "y")], [(0, 1)], "both of a"),
        ([("a", "x")] * 25, [], "these steps need 25"),
    ],
)
def test_steps_that_cannot_be_drawn_are_refused(
    steps: list[tuple[str, str]], waits: list[tuple[int, int]], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        lanes.draw(steps, waits)


def test_bars_have_one_scale_and_the_order_in_which_they_are_given() -> None:
    drawn = bars.draw({"all": 1_000_000, "half": 500_000, "none": 0}, "bytes")
    lengths = [float(box["width"]) for box in boxes(drawn)]
    assert lengths == [bars.LONGEST, bars.LONGEST / 2, 1]
    assert words(drawn) == ["bytes", "all", "1,000,000", "half", "500,000", "none", "0"]


@pytest.mark.parametrize("numbers", [{}, {"a": -1.0}, {str(number): 1.0 for number in range(17)}])
def test_numbers_that_cannot_be_drawn_are_refused(numbers: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="holds 1 to 16 bars"):
        bars.draw(numbers, "bytes")


def test_too_many_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="holds 1 to 14 keys, got 0"):
        table.draw("aten::add.Tensor", [])


def test_a_cell_and_a_reader_call_them_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    show_table("aten::add.Tensor", "CPU")
    show_lanes([("CPU", "queue"), ("GPU", "run")], [(0, 1)])
    show_bars({"a": 1}, "bytes")
    said = capsys.readouterr().out
    assert "The dispatch table of aten::add.Tensor. CPU: kernel" in said
    assert "run waits for queue" in said
    assert "bytes. a: 1." in said
    assert {"show_table", "show_lanes", "show_bars"} <= set(dir(workbook))
