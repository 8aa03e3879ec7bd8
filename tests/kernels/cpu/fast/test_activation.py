"""Is gelu by lines in float32 right over the whole range, and at its ends?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch

Array = np.ndarray[Any, Any]


def everywhere() -> Array:
    far = np.geomspace(1e-30, 1e30, 2000)
    return np.concatenate([np.linspace(-8, 8, 400_001), far, -far]).astype(np.float32)


def units_off(function: Callable[[Any], Any], x: Array) -> Array:
    """The errors in units in the last place of the true value, or of a half where that is smaller."""
    found, true = (function(glasstorch.from_numpy(one)).numpy() for one in (x, x.astype(np.float64)))
    return np.asarray(np.abs(found - true) / np.spacing(np.maximum(0.5, np.abs(true)).astype(np.float32)))


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_is_within_two_units_in_the_last_place(approximate: str) -> None:
    assert units_off(lambda x: glasstorch.ops.aten.gelu(x, approximate=approximate), everywhere()).max() < 2


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_its_slope_is_within_two_units_in_the_last_place(approximate: str) -> None:
    def slope(x: Any) -> Any:
        return glasstorch.ops.aten.gelu_backward(glasstorch.ones_like(x), x, approximate=approximate)

    assert units_off(slope, everywhere()).max() < 2


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_small_numbers_are_halved(approximate: str) -> None:
    x = glasstorch.logspace(-38, -8, 2000)
    np.testing.assert_allclose(glasstorch.ops.aten.gelu(x, approximate=approximate).numpy(), x.numpy() / 2, rtol=2e-7)


def test_ends_are_as_in_pytorch(require: Callable[[str], Any]) -> None:
    """PyTorch's are of float64: with AVX-512, its gelu of a vector of float32 is nan at infinity, and inf elsewhere."""
    torch = require("torch")
    ends = [float("inf"), -float("inf"), float("nan"), 0.0] * 300
    ours, theirs = glasstorch.tensor(ends), torch.tensor(ends, dtype=torch.float64)
    assert str(glasstorch.ops.aten.gelu(ours).tolist()) == str(torch.ops.aten.gelu(theirs).tolist())
    ours, theirs = (
        library.ops.aten.gelu_backward(library.ones_like(x), x) for library, x in ((glasstorch, ours), (torch, theirs))
    )
    assert str(ours.tolist()) == str(theirs.tolist())
