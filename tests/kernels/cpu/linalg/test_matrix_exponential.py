"""Is the exponential of a matrix right for every norm?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch

Require = Callable[[str], Any]
RANDOM = np.random.default_rng(14)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("norm", [0.0, 1e-8, 1e-3, 0.3, 1.0, 5.0, 50.0])
def test_values_are_scipys(norm: float, dtype: str) -> None:
    from scipy.linalg import expm

    x = RANDOM.normal(size=(3, 4, 4)) + (1j * RANDOM.normal(size=(3, 4, 4)) if dtype.startswith("complex") else 0)
    x = (x * (norm / np.abs(x).sum(-2).max(-1))[:, None, None]).astype(dtype)
    found = glasstorch.linalg.matrix_exp(glasstorch.from_numpy(x))
    wanted = expm(x.astype(np.complex128))
    close = {"float32": 1e-6, "complex64": 1e-6}.get(dtype, 1e-13) * np.abs(wanted).max()
    np.testing.assert_allclose(found.numpy(), wanted, rtol=0, atol=close)


def test_matrices_of_one_batch_are_halved_each_as_it_needs() -> None:
    x = glasstorch.stack([glasstorch.eye(2) * n for n in (0.0, 1.0, 40.0)]).double()
    found = glasstorch.matrix_exp(x).diagonal(0, -2, -1)[:, 0]
    np.testing.assert_allclose(found.numpy(), np.exp([0.0, 1.0, 40.0]), rtol=1e-13)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e5])
def test_what_is_not_finite_spreads_without_a_warning(value: float) -> None:
    assert not glasstorch.matrix_exp(glasstorch.full((2, 2), value)).isfinite().any()


@pytest.mark.parametrize("dtype", [glasstorch.float16, glasstorch.bfloat16])
def test_half_precision_is_rounded_once(dtype: Any) -> None:
    x = glasstorch.tensor([[0.5, 1.0], [-1.0, 0.25]])
    found = glasstorch.matrix_exp(x.to(dtype))
    assert found.dtype is dtype
    assert glasstorch.equal(found, glasstorch.matrix_exp(x).to(dtype))
