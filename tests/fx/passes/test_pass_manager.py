"""Do passes over any object run in order?"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def managing(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.pass_manager")


def double(number: int) -> int:
    return 2 * number


def increase(number: int) -> int:
    return number + 1


def test_passes_run_one_after_the_other(managing: Any) -> None:
    manager = managing.PassManager.build_from_passlist([double, increase])
    assert manager(5) == 11
    manager.add_pass(double)
    assert manager(5) == 22
    manager.replace_pass(increase, double)
    assert manager(5) == 40
    manager.remove_pass(["double"])
    manager.remove_pass(None)
    assert manager(5) == 5


def test_a_broken_constraint_is_refused(managing: Any) -> None:
    manager = managing.PassManager([double, managing.loop_pass(increase, 3)])
    assert manager(1) == 5
    manager.add_constraint(managing.this_before_that_pass_constraint(increase, double))
    assert manager(1) == 5  # the pass is wrapped, and so another one
    manager.add_constraint(managing.these_before_those_pass_constraint(increase, double))
    with pytest.raises(RuntimeError, match=r"pass schedule constraint violated. Expected .* at index 0 and"):
        manager(1)


def test_a_pass_can_be_repeated(managing: Any) -> None:
    assert managing.loop_pass(double, n_iter=3)(1) == 8
    assert managing.loop_pass(double, predicate=lambda number: number < 100)(1) == 128
    with pytest.raises(AssertionError, match="Exactly one of"):
        managing.loop_pass(double)
    with pytest.raises(RuntimeError, match="must be given positive int n_iter"):
        managing.loop_pass(double, n_iter=0)(1)


def test_a_result_is_logged_and_dropped(managing: Any, caplog: pytest.LogCaptureFixture) -> None:
    def fill(numbers: list[int]) -> bool:
        numbers.append(1)
        return True

    managing.logger.addHandler(caplog.handler)
    with caplog.at_level(logging.INFO, logger=managing.logger.name):
        assert managing.PassManager([managing.inplace_wrapper(managing.log_hook(fill))])([]) == [1]
    managing.logger.removeHandler(caplog.handler)
    assert "Return value: True" in caplog.text
