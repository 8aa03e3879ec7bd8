"""Does the figure of a profile show which calls lie inside which, and whose backward step is whose?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest

import glasstorch as torch
import workbook
from glasstorch import nn
from glasstorch.profiler import profile, record_function
from workbook.book.cells import show_profile
from workbook.book.figures import calls_inside


def recorded(program: Callable[[], object], **settings: Any) -> profile:
    with profile(**settings) as prof:
        program()
    return prof


LAYER, DATA = nn.Linear(2, 3), torch.ones(1, 2)


def training() -> None:
    """A forward and a backward pass, each in a block."""
    LAYER.zero_grad()
    with record_function("forward"):
        loss = LAYER(DATA).relu().sum()
    with record_function("backward"):
        loss.backward()


def found(prof: profile) -> list[tuple[str, int, int, int, int | None]]:
    boxes = calls_inside.boxes([event for event in prof.events() if event.name != "[memory]"])
    return [
        (calls_inside.shortened(box.event.name), box.level, box.first, box.rows, box.node)
        for box in boxes
        if box.event.scope != 1 and not box.event.name.startswith("autograd::")
    ]


def test_a_box_stands_to_the_right_of_the_call_that_made_it_and_is_as_high_as_what_is_inside() -> None:
    forward = [
        ("forward", 0, 0, 4, None),
        ("linear", 1, 0, 2, None),
        ("t", 2, 0, 1, 1),
        ("addmm", 2, 1, 1, 2),
        ("relu", 1, 2, 1, 3),
        ("sum", 1, 3, 1, 4),
        ("backward", 0, 4, 11, None),
    ]
    assert found(recorded(training))[: len(forward)] == forward


def test_a_step_has_the_number_of_the_call_that_made_its_node() -> None:
    steps = {
        calls_inside.shortened(box.event.name): box.node
        for box in calls_inside.boxes(recorded(training).events())
        if box.event.scope == 1
    }
    assert steps == {
        "SumBackward0": 4,
        "ReluBackward0": 3,
        "AddmmBackward0": 2,
        "AccumulateGrad": None,
        "TBackward0": 1,
    }


def test_a_node_whose_call_was_not_recorded_has_no_number() -> None:
    loss = torch.ones(2, requires_grad=True).sum()
    boxes = list(calls_inside.boxes(recorded(loss.backward).events()))
    assert "SumBackward0" in [box.event.name for box in boxes]
    assert {box.node for box in boxes} == {None}


def test_memory_has_no_box_and_changes_no_other() -> None:
    assert found(recorded(training, profile_memory=True)) == found(recorded(training))


def test_what_is_read_aloud_and_what_is_drawn_is_the_same_each_time() -> None:
    figure, again = calls_inside.draw(recorded(training)), calls_inside.draw(recorded(training))
    assert figure.svg() == again.svg()
    assert "aten::addmm inside aten::linear" in figure.description
    texts = [element.text for element in ElementTree.fromstring(figure.svg()).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:6] == ["forward", "linear", "t", "1", "addmm", "2"]
    assert texts.count("evaluate_function") == 6


def test_what_cannot_be_drawn_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="holds 1 to 64 rows, the profile has 0"):
        show_profile(recorded(list))
    with pytest.raises(ValueError, match="the profile has 65; print its events instead"):
        show_profile(recorded(lambda: [torch.ones(1) for _ in range(65)]))
    with pytest.raises(TypeError, match="show_profile: its argument is of type Tensor"):
        show_profile(torch.ones(1))  # type: ignore[arg-type]
    show_profile(recorded(training))
    assert "aten::relu inside forward" in capsys.readouterr().out
    assert workbook.show_profile is show_profile
