"""Are draws of matrices differentiable, and is a singular one drawn again?"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import glasstorch
from glasstorch.distributions import Wishart

COVARIANCE = [[2.0, 0.5], [0.5, 1.0]]


def test_the_gradient_of_a_draw_is_that_of_its_factor() -> None:
    factor = glasstorch.linalg.cholesky(glasstorch.tensor(COVARIANCE, dtype=glasstorch.float64)).requires_grad_()

    def drawn(factor: glasstorch.Tensor) -> glasstorch.Tensor:
        glasstorch.manual_seed(6)
        return Wishart(glasstorch.tensor([3.5, 5.0]).double(), scale_tril=factor.tril()).rsample((3,))

    assert glasstorch.autograd.gradcheck(drawn, (factor,))


def test_draws_have_the_mean_and_variance_that_are_told() -> None:
    d = Wishart(glasstorch.tensor(4.0), covariance_matrix=glasstorch.tensor(COVARIANCE))
    glasstorch.manual_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # sound draws are not warned of
        drawn = d.sample((4000,))
    assert np.allclose(drawn.mean(0).numpy(), d.mean.numpy(), rtol=0.06)
    assert np.allclose(drawn.var(0).numpy(), d.variance.numpy(), rtol=0.12)


def test_a_singular_draw_is_warned_of_and_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    d = Wishart(glasstorch.tensor([4.0, 4.0]), covariance_matrix=glasstorch.tensor(COVARIANCE))
    draw, calls = d._bartlett_sampling, []

    def sometimes_singular(sample_shape: tuple[int, ...]) -> glasstorch.Tensor:
        calls.append(tuple(sample_shape))
        result = draw(sample_shape)
        if len(calls) == 2:
            result[1, 0] = 0.0
        return result

    monkeypatch.setattr(d, "_bartlett_sampling", sometimes_singular)
    with pytest.warns(UserWarning, match="Singular sample detected"):
        drawn = d.sample((3,))
    assert calls == [(3,), (3,), (1,)]
    assert d.support.check(drawn).all()


def test_few_degrees_of_freedom_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="Low df values detected"):
        Wishart(glasstorch.tensor(1.5), covariance_matrix=glasstorch.tensor(COVARIANCE))
