"""Are covariances, means without NaN and norms of the older operators PyTorch's, or refused in its words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
ROWS = np.array([[0.0, 1.0, 2.0, 4.0], [2.0, 1.0, 0.5, 0.0]])


@pytest.mark.parametrize("correction", [0, 1, 2])
@pytest.mark.parametrize("weights", ["", "f", "a", "fa"])
def test_weighted_covariances_are_pytorchs(require: Require, correction: int, weights: str) -> None:
    def covariance(library: Any) -> Any:
        given = {"f": library.tensor([1, 0, 2, 3]), "a": library.tensor([0.5, 1.0, 0.0, 2.0], dtype=library.float64)}
        named = {f"{kind}weights": given[kind] for kind in weights}
        return library.cov(library.from_numpy(ROWS), correction=correction, **named).numpy()

    np.testing.assert_allclose(covariance(glasstorch), covariance(require("torch")), rtol=1e-12)


def test_too_few_observations_are_warned_about() -> None:
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert glasstorch.tensor([[1.0, 2.0]]).cov(correction=3).item() == float("inf")


def test_correlations_lie_between_minus_1_and_1() -> None:
    x = glasstorch.tensor([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1]])
    assert x.corrcoef().tolist() == [[1, -1], [-1, 1]]
    assert glasstorch.tensor([1.0, 2.0]).corrcoef().item() == 1
    assert glasstorch.tensor([2.0, 2.0]).corrcoef().isnan()


def test_the_mean_of_nothing_but_nan_is_nan() -> None:
    x = glasstorch.tensor([[float("nan"), 1.0, 3.0], [float("nan")] * 3])
    np.testing.assert_array_equal(x.nanmean(1).numpy(), [2, np.nan])
    np.testing.assert_array_equal(x.nansum(1, keepdim=True).numpy(), [[4], [0]])


def test_a_sum_without_nan_keeps_infinity() -> None:
    inf, nan = float("inf"), float("nan")
    assert glasstorch.tensor([inf, nan, 1.0]).nansum().item() == inf
    assert glasstorch.tensor([inf, -inf]).nansum().isnan()
    assert glasstorch.tensor([0.6, 0.6, nan]).nansum(dtype=glasstorch.int64).item() == 0  # converted before it is added


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.cov(t.ones(2, 2, 2)), lambda t: t.cov(t.ones(2) > 0), lambda t: t.corrcoef(t.ones(2, 2, 2)),
        lambda t: t.cov(t.ones(2), fweights=t.ones(2, 2)), lambda t: t.cov(t.ones(2), fweights=t.ones(2)),
        lambda t: t.cov(t.ones(2), fweights=t.tensor([1])), lambda t: t.cov(t.ones(2), fweights=t.tensor([1, -1])),
        lambda t: t.cov(t.ones(2), fweights=t.tensor([0, 0])), lambda t: t.cov(t.ones(2), aweights=t.ones(2, 2)),
        lambda t: t.cov(t.ones(2), aweights=t.tensor([1, 1])), lambda t: t.cov(t.ones(2), aweights=t.ones(3)),
        lambda t: t.cov(t.ones(2), aweights=-t.ones(2)),
        lambda t: t.nanmean(t.ones(2, dtype=t.int64)), lambda t: t.nanmean(t.ones(2), dtype=t.int64),
        lambda t: t.nansum(t.ones(2) * 1j), lambda t: t.nansum(t.ones(2), out=t.tensor(0)),
        lambda t: t.var_mean(t.tensor([1, 2])), lambda t: t.std_mean(t.ones(2), 1),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)
