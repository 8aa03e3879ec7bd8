"""Are the derivatives of gamma and Dirichlet numbers PyTorch's, and those of the distribution function?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.core.random.torch_numbers import torch_module


def gammas() -> tuple[np.ndarray, np.ndarray]:
    """Concentrations and numbers drawn with them, in every region of the approximation."""
    concentration = np.geomspace(0.01, 200, 4000)
    return concentration, np.random.default_rng(0).gamma(concentration) + 1e-8


def betas() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, their concentrations and the sums of both concentrations, in every region of the approximation."""
    choice = np.random.default_rng(1)
    alpha, beta = 10 ** choice.uniform(-2, 2.5, (2, 6000))
    return np.clip(choice.beta(alpha, beta), 1e-7, 1 - 1e-6), alpha, alpha + beta


def test_gamma_derivatives_are_pytorchs() -> None:
    ours, theirs = (
        library._standard_gamma_grad(*map(library.from_numpy, gammas())).numpy()
        for library in (glasstorch, torch_module())
    )
    assert ours == pytest.approx(theirs, rel=1e-12)


def test_dirichlet_derivatives_are_pytorchs() -> None:
    ours, theirs = (
        library._dirichlet_grad(*map(library.from_numpy, betas())).numpy() for library in (glasstorch, torch_module())
    )
    assert ours == pytest.approx(theirs, rel=1e-10)


def test_gamma_derivatives_are_those_of_the_distribution_function() -> None:
    stats = pytest.importorskip("scipy.stats")
    alpha, x = gammas()
    step = 1e-4 * alpha
    of_cdf = (stats.gamma.cdf(x, alpha + step) - stats.gamma.cdf(x, alpha - step)) / (2 * step)
    expected = -of_cdf / stats.gamma.pdf(x, alpha)
    middle = (stats.gamma.cdf(x, alpha) > 0.01) & (stats.gamma.cdf(x, alpha) < 0.99)
    found = glasstorch._standard_gamma_grad(*map(glasstorch.from_numpy, (alpha, x))).numpy()
    assert found[middle] == pytest.approx(expected[middle], rel=2e-3)


def test_dirichlet_derivatives_are_those_of_the_distribution_function() -> None:
    stats = pytest.importorskip("scipy.stats")
    x, alpha, total = betas()
    beta = total - alpha
    step = 1e-4 * alpha
    of_cdf = (stats.beta.cdf(x, alpha + step, beta) - stats.beta.cdf(x, alpha - step, beta)) / (2 * step)
    expected = -of_cdf / stats.beta.pdf(x, alpha, beta) / (1 - x)
    middle = (stats.beta.cdf(x, alpha, beta) > 0.01) & (stats.beta.cdf(x, alpha, beta) < 0.99)
    found = glasstorch._dirichlet_grad(*map(glasstorch.from_numpy, (x, alpha, total))).numpy()
    assert found[middle] == pytest.approx(expected[middle], rel=2e-2)


def test_the_gradient_of_a_gamma_number_is_its_derivative(torch: Any) -> None:
    concentration = torch.tensor([0.5, 3.0, 20.0], dtype=torch.float64, requires_grad=True)
    torch.manual_seed(2)
    drawn = torch._standard_gamma(concentration)
    (found,) = torch.autograd.grad(drawn.sum(), concentration)
    assert found.tolist() == torch._standard_gamma_grad(concentration.detach(), drawn.detach()).tolist()


def test_what_has_no_gradient_says_so(torch: Any) -> None:
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    assert torch.autograd.grad(torch.poisson(x).sum(), x)[0].tolist() == [0, 0]
    for call in (torch._sample_dirichlet, lambda p: torch.binomial(9 * torch.ones(2), p / 10)):
        with pytest.raises(RuntimeError, match=r"derivative for aten::\w+ is not implemented"):
            call(x).sum().backward()
    with pytest.raises(NotImplementedError, match="_standard_gamma_grad"):
        torch._standard_gamma_grad(x, torch.ones(2)).sum().backward()
