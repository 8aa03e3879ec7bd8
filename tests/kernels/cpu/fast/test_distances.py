"""Are many small matrices measured in few calls of NumPy?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.kernels.cpu.fast import distances as kernels


def test_many_small_matrices_are_measured_together(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: calls.append(function) or function(*args)

    monkeypatch.setattr(kernels, "lengths_in_block", counted(kernels.lengths_in_block))
    monkeypatch.setattr(kernels, "pulled_in_block", counted(kernels.pulled_in_block))
    x = glasstorch.ones(1000, 4, 3, requires_grad=True)
    glasstorch.cdist(x, glasstorch.zeros(4, 3)).sum().backward()
    assert len(calls) == 2
