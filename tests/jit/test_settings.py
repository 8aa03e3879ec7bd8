"""Are the switches of the executor off again when their `with` ends, and each thread's own?"""

from __future__ import annotations

import threading

import pytest

from glasstorch import jit
from glasstorch.jit import settings


def test_optimisation_is_on_unless_it_is_switched_off() -> None:
    assert settings.optimize.get()
    with jit.optimized_execution(False):
        assert not settings.optimize.get()
        with jit.optimized_execution(True):
            assert settings.optimize.get()
        assert not settings.optimize.get()
    assert settings.optimize.get()


@pytest.mark.parametrize("name", settings.FUSERS)
def test_a_fuser_is_chosen_inside_its_with(name: str) -> None:
    with jit.fuser(name):
        assert settings.fuser_name.get() == name
    assert settings.fuser_name.get() == "default"


def fails_inside() -> None:
    with jit.fuser("none"), jit.optimized_execution(False):
        raise ZeroDivisionError


def test_an_error_inside_leaves_nothing_switched() -> None:
    with pytest.raises(ZeroDivisionError):
        fails_inside()
    assert (settings.fuser_name.get(), settings.optimize.get()) == ("default", True)


def test_other_threads_keep_their_own_choice() -> None:
    seen: list[object] = []
    with jit.fuser("numpy"), jit.optimized_execution(False):
        thread = threading.Thread(target=lambda: seen.extend([settings.fuser_name.get(), settings.optimize.get()]))
        thread.start()
        thread.join()
    assert seen == ["default", True]
