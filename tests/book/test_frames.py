"""Are the instructions of a captured function told in their order, each with the stack that it leaves?"""

from __future__ import annotations

from typing import Any

import glasstorch
from glasstorch.compiler.bytecode import capture, frame
from workbook.book.cells import steps_of


def scaled(x: Any, factor: Any) -> Any:
    y = x * factor
    return y.relu()


def test_each_instruction_has_its_stack_and_what_it_adds_to_the_graph() -> None:
    assert [str(step) for step in steps_of(scaled, glasstorch.ones(2), 2)] == [
        "LOAD_FAST x              [l_x_]",
        "LOAD_FAST factor         [l_x_, 2]",
        "BINARY_OP mul            [mul]                       + mul",
        "STORE_FAST y             []",
        "LOAD_FAST y              [y]",
        "LOAD_METHOD relu         [NULL, y.relu]",
        "CALL 0                   [relu]                      + relu",
    ]


def difference(a: Any, b: Any = 3) -> Any:
    return a - b


def outer(x: Any) -> Any:
    return difference(x)


def test_a_function_that_is_called_stands_below_its_call() -> None:
    steps = steps_of(outer, glasstorch.ones(2))
    assert [(step.depth, step.name) for step in steps] == [
        (0, "LOAD_GLOBAL"),
        (0, "LOAD_FAST"),
        (0, "CALL"),
        (1, "LOAD_FAST"),
        (1, "LOAD_FAST"),
        (1, "BINARY_OP"),
    ]
    assert [step.added for step in steps if step.added] == [("sub",)]
    assert steps[0].stack == ("NULL", "difference")
    assert steps[-2].stack == ("l_x_", "3")


def containers(x: Any, names: dict[str, int]) -> Any:
    found = [(name, [len]) for name in names]
    return found, x.sum()


def test_containers_are_told_by_their_items() -> None:
    stacks = [step.stack for step in steps_of(containers, glasstorch.ones(2), {"a": 1})]
    assert any("{'a'}" in stack for stack in stacks)
    assert any("[('a', [len])]" in stack for stack in stacks)
    assert any("an iterator" in stack for stack in stacks)


def test_afterwards_a_capture_is_as_it_was() -> None:
    steps_of(scaled, glasstorch.ones(2), 2)
    assert capture.Frame is frame.Frame  # type: ignore[attr-defined]
    assert frame.Frame.__name__ == "Frame"
