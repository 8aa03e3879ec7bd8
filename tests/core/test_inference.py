"""Do tensors made in inference mode lack what autograd needs?"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from glasstorch.core import inference
from glasstorch.core.keys import CPU_KEYS, DispatchKeySet


@pytest.fixture(autouse=True)
def left_again() -> Iterator[None]:
    before = inference.mode.get()
    yield
    inference.set_inference_mode(before)


def test_new_tensors_lack_the_keys_of_autograd_inside() -> None:
    assert inference.keys_of_new(CPU_KEYS) == CPU_KEYS
    inference.set_inference_mode(True)
    assert [key.name for key in DispatchKeySet(inference.keys_of_new(CPU_KEYS))] == ["CPU", "AutocastCPU"]


def test_another_thread_is_not_in_the_mode() -> None:
    inference.set_inference_mode(True)
    seen: list[bool] = []
    thread = threading.Thread(target=lambda: seen.append(inference.is_inference_mode_enabled()))
    thread.start()
    thread.join()
    assert (seen, inference.is_inference_mode_enabled()) == ([False], True)
