"""Does a curve grow while a cell runs, and end as the same figure however often it was drawn?"""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from workbook.book.cells import LiveCurves
from workbook.book.figures import curves
from workbook.book.figures.live import drawing_of


class Notebook:
    """Notes what a notebook would show in one place."""

    def __init__(self) -> None:
        self.shown: list[Any] = []
        self.displays = 0

    def display(self, drawing: Any, display_id: bool) -> Notebook:
        assert display_id
        self.displays += 1
        self.shown.append(drawing)
        return self

    def update(self, drawing: Any) -> None:
        self.shown.append(drawing)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    found = Notebook()
    display = SimpleNamespace(display=found.display)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=object, display=display))
    return found


def drawn(notebook: Notebook, seconds: float, every: float) -> LiveCurves:
    """Ten values of two curves, so many seconds apart."""
    now = 0.0
    plot = LiveCurves("step", every=every)
    plot.clock = lambda: now
    with plot:
        for step in range(10):
            plot.add(loss=10 - step, other=step / 3)
            now += seconds
    return plot


def counts(notebook: Notebook) -> list[int]:
    """How many values each drawing has."""
    return [int(re.findall(r"(\d+) values", drawing.text)[0]) for drawing in notebook.shown]


def test_one_output_is_drawn_anew_while_values_come(notebook: Notebook) -> None:
    drawn(notebook, seconds=1.0, every=1.0)
    assert notebook.displays == 1
    assert counts(notebook) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 10]  # from the second value on, and at the end


def test_drawings_are_some_time_apart(notebook: Notebook) -> None:
    drawn(notebook, seconds=1.0, every=4.0)
    assert counts(notebook) == [2, 6, 10, 10]


@pytest.mark.parametrize("every", [0.0, 3.0, 1e9])
def test_what_is_left_does_not_depend_on_how_often_it_was_drawn(notebook: Notebook, every: float) -> None:
    drawn(notebook, seconds=1.0, every=every)
    values = {
        "loss": [10.0 - step for step in range(10)],
        "other": [float(f"{step / 3:.3g}") for step in range(10)],
    }
    assert notebook.shown[-1] == drawing_of(curves.draw(values, "step", "loss"))


def test_values_are_drawn_to_three_digits() -> None:
    plots = []
    for loss in (3.1415, 3.14):
        plot = LiveCurves("step")
        for value in (4.0, loss):
            plot.add(loss=value)
        figure = plot.figure()
        assert figure is not None
        plots.append(figure.svg())
    assert plots[0] == plots[1]


def test_after_an_error_what_there_was_is_drawn(notebook: Notebook) -> None:
    def interrupted() -> None:
        with LiveCurves("step", every=1e9) as plot:
            plot.add(loss=2.0)
            plot.add(loss=1.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "2 values from 2 to 1" in notebook.shown[-1].text


def test_outside_of_a_notebook_the_description_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    with LiveCurves("step", every=0.0) as plot:
        for loss in (3.0, 2.0, 1.0):
            plot.add(loss=loss)
    assert capsys.readouterr().out == "loss over step. loss: 3 values from 3 to 1.\n"


def test_without_values_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with LiveCurves("step"):
        pass
    assert capsys.readouterr().out == ""
