"""Are distances of every order PyTorch's, one way and the other, and their gradients?"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError

Require = Callable[[str], Any]
RANDOM = np.random.default_rng(2)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, inf])
@pytest.mark.parametrize("rows", [3, 40])
def test_distances_and_gradients_are_pytorchs(require: Require, p: float, rows: int) -> None:
    torch = require("torch")
    x, y = RANDOM.normal(size=(2, rows, 4)), RANDOM.normal(size=(5, 4))
    y[0] = x[0, 0]  # a distance of 0
    results = []
    for library in (glasstorch, torch):
        a, b = (library.tensor(array.tolist(), dtype=library.float64, requires_grad=True) for array in (x, y))
        distances = library.cdist(a, b, p, compute_mode="donot_use_mm_for_euclid_dist")
        (distances * distances.detach().cos()).sum().backward()
        results.append([distances.detach().numpy(), a.grad.numpy(), b.grad.numpy()])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-10, 1e-10)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, inf])
@pytest.mark.parametrize("count", [1, 3, 300])
def test_each_matrix_of_a_batch_has_its_distances(require: Require, p: float, count: int) -> None:
    torch = require("torch")
    x, y = RANDOM.normal(size=(2, count, 3, 4)), RANDOM.normal(size=(count, 50, 4))
    y[0] = x[0, 0, 0]
    results = []
    for library in (glasstorch, torch):
        a, b = (library.tensor(array.tolist(), dtype=library.float64, requires_grad=True) for array in (x, y))
        distances = library.cdist(a, b, p, compute_mode="donot_use_mm_for_euclid_dist")
        (distances * distances.detach().cos()).sum().backward()
        results.append([distances.detach().numpy(), a.grad.numpy(), b.grad.numpy()])
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-10, 1e-10)


def test_distances_are_written_between_others() -> None:
    room = glasstorch.full((30, 3, 4), -1.0)
    x, y = (glasstorch.tensor(RANDOM.normal(size=(30, 2, 3))) for _ in range(2))
    out = room.double()[:, ::2, ::2]
    assert glasstorch.ops.aten._cdist_forward.out(x, y, 2.0, None, out=out) is out
    assert out.tolist() == glasstorch.cdist(x, y).tolist()


@pytest.mark.parametrize("mode", ["use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist"])
def test_a_product_of_matrices_gives_the_same_distances(torch: Any, mode: str) -> None:
    x, y = torch.tensor(RANDOM.normal(size=(30, 3))), torch.tensor(RANDOM.normal(size=(2, 4, 3)))
    exact = torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist")
    assert (torch.cdist(x, y, compute_mode=mode) - exact).abs().max() < 1e-12


def test_no_point_pulls_itself(torch: Any) -> None:
    x = torch.zeros(30, 3, requires_grad=True)
    torch.cdist(x, x).sum().backward()
    assert x.grad.abs().max().item() == 0


def test_rounding_makes_no_distance_imaginary(torch: Any) -> None:
    x = torch.tensor(RANDOM.normal(size=(40, 3)) + 1000).float()
    assert not torch.cdist(x, x, compute_mode="use_mm_for_euclid_dist").isnan().any()


def test_without_rows_or_columns_all_distances_are_zero_or_none(torch: Any) -> None:
    assert tuple(torch.cdist(torch.ones(0, 3), torch.ones(4, 3)).shape) == (0, 4)
    assert torch.cdist(torch.ones(2, 0), torch.ones(3, 0)).tolist() == [[0] * 3] * 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (((3,), (3,)), ShapeError, "cdist only supports at least 2D tensors, X1 got: 1D"),
        (((3, 2), (3, 3)), ShapeError, "X1 and X2 must have the same number of columns. X1: 2 X2: 3"),
        (((3, 2), (3, 2), -1.0), ArgumentError, "cdist only supports non-negative p values"),
        (((3, 2), (3, 2), 2.0, "always"), ValueError, "always is not a valid value for compute_mode"),
    ],
)
def test_what_has_no_distance_is_refused(torch: Any, arguments: Any, error: type[Exception], message: str) -> None:
    first, second, *rest = arguments
    with pytest.raises(error if torch is glasstorch else (RuntimeError, ValueError)) as refused:
        torch.cdist(torch.ones(first), torch.ones(second), *rest)
    assert message in str(refused.value)


def test_integers_have_no_distance() -> None:
    with pytest.raises(DtypeError, match="only supports floating-point dtypes, X1 got: Long"):
        glasstorch.cdist(glasstorch.ones(2, 2).long(), glasstorch.ones(2, 2))
