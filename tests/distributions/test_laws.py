"""Are densities, moments and draws those of the law? Needs no torch: scipy and autograd tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.distributions.compare import outcome
from tests.distributions.table import ROWS, Row, made, tensors, values_of

LAWS = [row for row in ROWS if row.law is not None]
CONTINUOUS = [row for row in ROWS if not row.is_discrete]


def frozen(row: Row) -> list[Any]:
    """The laws of scipy, one for each element of the batch."""
    stats = pytest.importorskip("scipy.stats")
    assert row.law is not None
    return [row.law(stats, *at) for at in zip(*row.parameters, strict=True)]


def close(found: Any, expected: list[Any]) -> bool:
    return np.allclose(found.numpy(), np.array(expected), rtol=3e-5, atol=1e-7, equal_nan=True)


@pytest.mark.parametrize("row", LAWS, ids=lambda row: row.name)
def test_densities_and_distribution_functions_are_scipys(row: Row) -> None:
    d = made(glasstorch, row)
    at = list(zip(frozen(row), row.values, strict=True))
    density = "logpmf" if row.is_discrete else "logpdf"
    assert close(
        d.log_prob(values_of(glasstorch, row).to(glasstorch.float64)), [getattr(law, density)(x) for law, x in at]
    )
    cdf = outcome(lambda: d.cdf(values_of(glasstorch, row).to(glasstorch.float64)))
    if cdf != "NotImplementedError":
        assert close(cdf, [law.cdf(x) for law, x in at])


@pytest.mark.parametrize("row", LAWS, ids=lambda row: row.name)
def test_moments_and_entropies_are_scipys(row: Row) -> None:
    d, laws = made(glasstorch, row), frozen(row)
    if row.name != "VonMises":  # whose moments are those of a circle
        for moment, of_law in ((d.mean, "mean"), (d.variance, "var")):
            found, expected = moment.numpy(), np.array([getattr(law, of_law)() for law in laws])
            exists = np.isfinite(expected) & np.isfinite(found)  # scipy has infinity for some of ours that are nan
            assert exists.any() or "Cauchy" in row.name
            assert np.allclose(found[exists], expected[exists], rtol=3e-5)
    entropy = outcome(lambda: d.entropy())
    if not isinstance(entropy, str):
        assert close(entropy, [float(law.entropy()) for law in laws])


@pytest.mark.parametrize("row", LAWS, ids=lambda row: row.name)
def test_draws_have_the_distribution_function_of_scipy(row: Row) -> None:
    glasstorch.manual_seed(11)
    drawn = made(glasstorch, row).sample((1500,)).numpy()
    if row.name == "VonMises":  # the law's angles are those nearest to its centre
        loc = np.array(row.parameters[0])
        drawn = (drawn - loc + np.pi) % (2 * np.pi) - np.pi + loc
    drawn = np.sort(drawn, axis=0)
    empirical = np.arange(1, 1501) / 1500
    for column, law in zip(drawn.T, frozen(row), strict=True):
        below, last = law.cdf(column), np.append(np.diff(column) != 0, True)
        assert np.abs(below - empirical)[last].max() < 0.045  # of a right law, one seed in 200 exceeds it


@pytest.mark.parametrize("row", CONTINUOUS, ids=lambda row: row.name)
def test_quantiles_invert_the_distribution_function(row: Row) -> None:
    d = made(glasstorch, row, "float64")
    shares = glasstorch.tensor([[0.05], [0.3], [0.8]], dtype=glasstorch.float64)
    quantiles = outcome(lambda: d.icdf(shares))
    if not isinstance(quantiles, str):
        back = d.cdf(quantiles)
        assert np.allclose(back.numpy(), shares.expand(back.shape).numpy(), rtol=1e-9)


OF_MATRICES = ("Wishart", "MultivariateNormal")


def of_its_kind(row: Row, parameter: Any) -> Any:
    """A matrix that differs a little from a parameter, as a symmetric or a triangular one."""
    if not row.name.startswith(OF_MATRICES):
        return parameter
    return parameter.tril() if row.name.endswith("factors") else 0.5 * (parameter + parameter.mT)


@pytest.mark.usefixtures("unchecked")  # differences leave the simplex
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_gradients_of_log_prob_are_those_of_differences(row: Row) -> None:
    parameters = tensors(glasstorch, row, "float64", requires_grad=True)
    if row.name.startswith("Binomial"):
        parameters[0].requires_grad_(False)  # how many trials there are is no continuous parameter
    if row.name == "GeneralizedPareto":
        parameters[2].requires_grad_(False)  # 0 is a case of its own, whose gradient is 0 in PyTorch, too
    values = values_of(glasstorch, row).to(glasstorch.float64)

    def log_prob(*parameters: Any) -> Any:
        # Vectors of means are no matrices of a kind, which the last parameter is.
        *others, last = parameters
        return row.make(glasstorch, *others, of_its_kind(row, last)).log_prob(values)

    assert glasstorch.autograd.gradcheck(log_prob, parameters, atol=1e-5, rtol=1e-3)
