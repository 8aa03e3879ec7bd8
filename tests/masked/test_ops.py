"""Does a mask leave elements out of reductions and normalisations, as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NAN, INF = float("nan"), float("inf")
X = np.array([[1.0, -2.0, 4.0], [0.5, 3.0, -1.0]])
MASK = np.array([[True, False, True], [False, False, False]])
REDUCTIONS: dict[str, tuple[dict[str, Any], list[float]]] = {
    "sum": ({}, [5.0, 0.0]),
    "prod": ({}, [4.0, 1.0]),
    "amax": ({}, [4.0, -INF]),
    "amin": ({}, [1.0, INF]),
    "mean": ({}, [2.5, NAN]),
    "median": ({}, [1.0, NAN]),
    "logsumexp": ({}, [float(np.logaddexp(1, 4)), -INF]),
    "norm": ({"ord": 1.0}, [5.0, 0.0]),
    "var": ({}, [4.5, NAN]),
    "std": ({"correction": 0}, [1.5, NAN]),
}


def equal(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-12)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_what_is_left_out_changes_nothing(torch: Any, name: str) -> None:
    options, wanted = REDUCTIONS[name]
    x, mask = torch.from_numpy(X), torch.from_numpy(MASK)
    equal(getattr(torch.masked, name)(x, dim=1, mask=mask, **options), wanted)


def test_without_a_mask_every_element_counts(torch: Any) -> None:
    x = torch.from_numpy(X)
    equal(torch.masked.mean(x, 0), X.mean(0))
    equal(torch.masked.var(x, 1, False, keepdim=True), X.var(1, keepdims=True))
    equal(torch.masked.amax(x, (0, 1)), X.max())


def test_a_number_has_a_mean_over_dimension_0(torch: Any) -> None:
    for library in (torch, glasstorch):
        x = library.tensor(3.0)
        assert [library.masked.mean(x, dim).item() for dim in (None, 0, -1)] == [3.0, 3.0, 3.0]
        assert library.masked.var(x, 0, unbiased=False).item() == 0.0


def test_a_mask_is_broadcast_to_the_tensor(torch: Any) -> None:
    x, columns = torch.from_numpy(X), torch.tensor([True, False, True])
    equal(torch.masked.sum(x, 1, mask=columns), [5.0, -0.5])
    equal(torch.masked.sum(x, mask=torch.tensor([1, 0, 1])), 4.5)


def test_integers_are_added_as_int64_and_have_a_smallest_number(torch: Any) -> None:
    x = torch.tensor([[3, 4], [5, 6]], dtype=torch.uint8)
    nothing = torch.zeros(2, dtype=torch.bool)
    assert torch.masked.sum(x, 1).dtype is torch.int64
    assert torch.masked.amax(x, 1, mask=nothing).tolist() == [0, 0]
    assert torch.masked.amin(x.to(torch.int8), 1, mask=nothing).tolist() == [127, 127]
    assert torch.masked.median(x, 1, mask=torch.tensor([False, True])).tolist() == [4, 6]


def test_the_place_of_an_extremum_is_among_those_that_count(torch: Any) -> None:
    x, mask = torch.from_numpy(X), torch.tensor([True, True, False])
    assert torch.masked.argmax(x, 1, mask=mask).tolist() == [0, 1]
    assert torch.masked.argmin(x, 1, mask=mask).tolist() == [1, 0]


def test_normalising_leaves_no_share_to_what_is_left_out(torch: Any) -> None:
    x, mask = torch.from_numpy(X), torch.tensor([True, False, True])
    share = np.exp([1.0, 4.0]) / np.exp([1.0, 4.0]).sum()
    equal(torch.masked.softmax(x, 1, mask=mask)[0], [share[0], 0, share[1]])
    equal(torch.masked.log_softmax(x, 1, mask=mask)[0], [np.log(share[0]), -INF, np.log(share[1])])
    equal(torch.masked.softmin(x, 1, mask=mask)[0], [share[1], 0, share[0]])
    equal(torch.masked.normalize(x, 1.0, 1, mask=mask)[0], [0.2, 0, 0.8])
    equal(torch.masked.cumsum(x, 1, mask=mask)[0], [1, 1, 5])
    equal(torch.masked.cumprod(x, 1, mask=mask)[0], [1, 1, 4])


def test_two_masks_of_logaddexp(torch: Any) -> None:
    x, y = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64), torch.tensor([4.0, 5.0, 6.0], dtype=torch.float64)
    left, right = torch.tensor([True, False, False]), torch.tensor([True, True, False])
    found = torch.masked.logaddexp(x, y, input_mask=left, other_mask=right)
    equal(found, [np.logaddexp(1, 4), 5, -INF])


def test_no_gradient_reaches_what_is_left_out(torch: Any) -> None:
    x = torch.from_numpy(X).requires_grad_()
    mask = torch.from_numpy(MASK[:1])
    (torch.masked.mean(x, 1, mask=mask) * torch.tensor([1.0, 10.0])).sum().backward()
    equal(x.grad, [[0.5, 0, 0.5], [5, 0, 5]])


REFUSED: dict[str, Callable[[Any], Any]] = {
    "a mask of more dimensions": lambda t: t.masked.sum(t.ones(2), mask=t.ones(2, 2)),
    "a dimension twice": lambda t: t.masked.sum(t.ones(2, 2), (0, 0)),
    "a dimension that is not there": lambda t: t.masked.amax(t.ones(2, 2), 2),
    "the largest of bool": lambda t: t.masked.amax(t.ones(2, dtype=t.bool), 0, mask=t.tensor([True, False])),
    "a running sum of bool": lambda t: t.masked.cumsum(t.tensor([True, True]), 0),
    "a running product of bool": lambda t: t.masked.cumprod(t.tensor([True, True]), 0),
    "a running sum as bool": lambda t: t.cumsum(t.tensor([1, 1]), 0, dtype=t.bool),
    "a mean of integers": lambda t: t.masked.mean(t.ones(2, dtype=t.int64)),
    "a mean as integers": lambda t: t.masked.mean(t.ones(2), dtype=t.int64),
}


@pytest.mark.parametrize("case", [name for name in REFUSED if name != "a mask of more dimensions"])
def test_a_mistake_is_refused_in_pytorchs_words(require: Require, case: str) -> None:
    same_refusal(require("torch"), REFUSED[case])


def test_a_mask_of_more_dimensions_is_refused(torch: Any) -> None:
    with pytest.raises(IndexError, match="mask dimensionality higher than of the input"):
        REFUSED["a mask of more dimensions"](torch)


@pytest.mark.parametrize("mask", [[True, False], True, np.ones(2, bool)])
def test_a_mask_that_is_no_tensor_is_refused(mask: Any) -> None:
    with pytest.raises(TypeError, match="a mask must be a bool Tensor"):
        glasstorch.masked.sum(glasstorch.ones(2), mask=mask)


def test_a_median_of_nothing_is_no_integer(torch: Any) -> None:
    with pytest.raises(ValueError, match="no fully masked out rows"):
        torch.masked.median(torch.ones(2, dtype=torch.int64), 0, mask=torch.zeros(2))


def test_both_of_unbiased_and_correction_are_refused() -> None:
    with pytest.raises(RuntimeError, match="Only one of unbiased and correction"):
        glasstorch.masked.var(glasstorch.ones(2), 0, True, correction=1)


def test_a_norm_of_minus_infinity_wants_floats() -> None:
    with pytest.raises(RuntimeError, match="must be floating point"):
        glasstorch.masked.norm(glasstorch.ones(2) * 1j, -INF, mask=glasstorch.ones(2))


def test_complex_numbers_have_no_smallest_one() -> None:
    with pytest.raises(NotImplementedError, match=r"identity of amin on torch\.complex64 input"):
        glasstorch.masked.amin(glasstorch.ones(2) * 1j, 0, mask=glasstorch.tensor([True, False]))
