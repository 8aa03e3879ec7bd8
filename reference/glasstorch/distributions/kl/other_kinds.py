"""How far is a distribution from one of another kind?

Mirrors: torch/distributions/kl.py

Most of these are `-entropy(p) - E[log q(x)]`: the density of q needs a few means over draws of p, of x, of its square,
of its logarithm or of its exponential.
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.distributions.bernoulli import Bernoulli
from glasstorch.distributions.beta import Beta
from glasstorch.distributions.continuous_bernoulli import ContinuousBernoulli
from glasstorch.distributions.exponential import Exponential
from glasstorch.distributions.gamma import Gamma
from glasstorch.distributions.gumbel import Gumbel
from glasstorch.distributions.kl.dispatch import register_kl
from glasstorch.distributions.laplace import Laplace
from glasstorch.distributions.normal import Normal
from glasstorch.distributions.pareto import Pareto
from glasstorch.distributions.poisson import Poisson
from glasstorch.distributions.uniform import Uniform
from glasstorch.distributions.utils import euler_constant
from glasstorch.operators.generated import functions as f

LOG_2_PI = math.log(2 * math.pi)

# The mean of -log q(x) ------------------------------------------------------------------------------------------------


def under_normal(q: Normal, mean: Tensor, variance: Tensor) -> Tensor:
    """Of a normal q, for draws of this mean and variance."""
    square = q.scale.pow(2)
    return 0.5 * LOG_2_PI + q.scale.log() + 0.5 * (variance + (mean - q.loc).pow(2)) / square


def under_gamma(q: Gamma, mean: Tensor, mean_of_log: Tensor) -> Tensor:
    """Of a gamma q, for draws of this mean, whose logarithms have this mean."""
    normalizer = q.concentration.lgamma() - q.concentration * q.rate.log()
    return normalizer + (1 - q.concentration) * mean_of_log + q.rate * mean


def under_exponential(q: Exponential, mean: Tensor) -> Tensor:
    """Of an exponential q, for draws of this mean."""
    return q.rate * mean - q.rate.log()


def under_gumbel(q: Gumbel, mean: Tensor, mean_of_exp: Tensor) -> Tensor:
    """Of a Gumbel q, for draws x of this mean, where `exp((loc - x) / scale)` has that mean."""
    return q.scale.log() + (mean - q.loc) / q.scale + mean_of_exp


def under_continuous_bernoulli(q: ContinuousBernoulli, mean: Tensor) -> Tensor:
    """Of a continuous Bernoulli q, for draws of this mean."""
    return -mean * q.logits - f.log1p(-q.probs) - q._cont_bern_log_norm()


def infinite_where(excluded: Tensor, result: Tensor) -> Tensor:
    """The divergence, infinite where q excludes draws of p."""
    return f.where(excluded, math.inf, result)


# From shares ----------------------------------------------------------------------------------------------------------


@register_kl(Beta, ContinuousBernoulli)
def kl_beta_continuous_bernoulli(p: Beta, q: ContinuousBernoulli) -> Tensor:
    """By p's mean."""
    return under_continuous_bernoulli(q, p.mean) - p.entropy()


@register_kl(Beta, Uniform)
def kl_beta_uniform(p: Beta, q: Uniform) -> Tensor:
    """Infinite where q does not reach from 0 to 1."""
    return infinite_where((q.low > 0) | (q.high < 1), -p.entropy() + (q.high - q.low).log())


@register_kl(Beta, Gamma)
def kl_beta_gamma(p: Beta, q: Gamma) -> Tensor:
    """By p's mean and mean logarithm."""
    mean_of_log = p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    return under_gamma(q, p.mean, mean_of_log) - p.entropy()


@register_kl(ContinuousBernoulli, Uniform)
def kl_continuous_bernoulli_uniform(p: ContinuousBernoulli, q: Uniform) -> Tensor:
    """Infinite unless q reaches beyond 0 and 1, as in PyTorch."""
    return infinite_where((q.low >= 0) | (q.high <= 1), -p.entropy() + (q.high - q.low).log())


# From any kind whose entropy, mean and variance are known ------------------------------------------------------


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def kl_by_mean(p: Any, q: Exponential) -> Tensor:
    """By p's mean."""
    return under_exponential(q, p.mean) - p.entropy()  # type: ignore[no-any-return]


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def kl_by_moments(p: Any, q: Normal) -> Tensor:
    """By p's mean and variance."""
    return under_normal(q, p.mean, p.variance) - p.entropy()  # type: ignore[no-any-return]


# From positive numbers ------------------------------------------------------------------------------------------------


@register_kl(Exponential, Gamma)
def kl_exponential_gamma(p: Exponential, q: Gamma) -> Tensor:
    """By p's mean and mean logarithm."""
    return under_gamma(q, p.mean, -p.rate.log() - euler_constant) - p.entropy()


@register_kl(Exponential, Gumbel)
def kl_exponential_gumbel(p: Exponential, q: Gumbel) -> Tensor:
    """By p's moment generating function."""
    product = p.rate * q.scale
    mean_of_exp = f.exp(q.loc / q.scale) * product / (product + 1)
    return under_gumbel(q, p.mean, mean_of_exp) - p.entropy()


@register_kl(Gamma, Gumbel)
def kl_gamma_gumbel(p: Gamma, q: Gumbel) -> Tensor:
    """By p's moment generating function."""
    mean_of_exp = f.exp(q.loc / q.scale) * (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration)
    return under_gumbel(q, p.mean, mean_of_exp) - p.entropy()


@register_kl(Pareto, Exponential)
def kl_pareto_exponential(p: Pareto, q: Exponential) -> Tensor:
    """Infinite where p has no mean."""
    mean = p.alpha * p.scale / (p.alpha - 1)
    return infinite_where(p.alpha <= 1, under_exponential(q, mean) - p.entropy())


@register_kl(Pareto, Gamma)
def kl_pareto_gamma(p: Pareto, q: Gamma) -> Tensor:
    """Infinite where p has no mean."""
    mean = p.alpha * p.scale / (p.alpha - 1)
    mean_of_log = p.scale.log() + p.alpha.reciprocal()
    return infinite_where(p.alpha <= 1, under_gamma(q, mean, mean_of_log) - p.entropy())


@register_kl(Pareto, Normal)
def kl_pareto_normal(p: Pareto, q: Normal) -> Tensor:
    """Infinite where p has no variance."""
    part = p.scale / (p.alpha - 1)
    variance = p.alpha * part.pow(2) / (p.alpha - 2)
    return infinite_where(p.alpha <= 2, under_normal(q, p.alpha * part, variance) - p.entropy())


# From real numbers ----------------------------------------------------------------------------------------------------


@register_kl(Normal, Gumbel)
def kl_normal_gumbel(p: Normal, q: Gumbel) -> Tensor:
    """By p's moment generating function."""
    mean_of_exp = f.exp((q.loc - p.loc) / q.scale + 0.5 * (p.scale / q.scale).pow(2))
    return under_gumbel(q, p.mean, mean_of_exp) - p.entropy()


@register_kl(Normal, Laplace)
def kl_normal_laplace(p: Normal, q: Laplace) -> Tensor:
    """By the mean distance of p's draws from q's centre, that of a folded normal number."""
    offset = p.loc - q.loc
    ratio = offset / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * f.exp(-0.5 * ratio.pow(2)) + offset * f.erf(math.sqrt(0.5) * ratio)
    return f.log(2 * q.scale) + distance / q.scale - p.entropy()


# From uniform numbers -------------------------------------------------------------------------------------------------


def mean_of_log(low: Tensor, high: Tensor) -> Tensor:
    """The mean logarithm of uniform numbers: `x log(x) - x` is what it is the derivative of."""
    length = high - low
    return (f.xlogy(high, high) - f.xlogy(low, low) - length) / length


@register_kl(Uniform, Beta)
def kl_uniform_beta(p: Uniform, q: Beta) -> Tensor:
    """Infinite where p reaches beyond 0 or 1."""
    a, b = q.concentration1, q.concentration0
    normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    means = (a - 1) * mean_of_log(p.low, p.high) + (b - 1) * mean_of_log(1 - p.high, 1 - p.low)
    return infinite_where((p.high > 1) | (p.low < 0), normalizer - means - p.entropy())


@register_kl(Uniform, ContinuousBernoulli)
def kl_uniform_continuous_bernoulli(p: Uniform, q: ContinuousBernoulli) -> Tensor:
    """Infinite unless p lies between 0 and 1 and reaches neither, as in PyTorch."""
    return infinite_where((p.high >= 1) | (p.low <= 0), under_continuous_bernoulli(q, p.mean) - p.entropy())


@register_kl(Uniform, Exponential)
def kl_uniform_exponential(p: Uniform, q: Exponential) -> Tensor:
    """Infinite where p begins below 0."""
    return infinite_where(p.low < 0, under_exponential(q, p.mean) - p.entropy())


@register_kl(Uniform, Gamma)
def kl_uniform_gamma(p: Uniform, q: Gamma) -> Tensor:
    """Infinite where p begins below 0."""
    return infinite_where(p.low < 0, under_gamma(q, p.mean, mean_of_log(p.low, p.high)) - p.entropy())


@register_kl(Uniform, Gumbel)
def kl_uniform_gumbel(p: Uniform, q: Gumbel) -> Tensor:
    """By the integral of the exponential function."""
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return under_gumbel(q, p.mean, (f.exp(-low) - f.exp(-high)) / (high - low)) - p.entropy()


@register_kl(Uniform, Pareto)
def kl_uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    """Infinite where p begins below q."""
    density = (q.alpha + 1) * mean_of_log(p.low, p.high) - (q.alpha * q.scale.pow(q.alpha)).log()
    return infinite_where(p.low < q.scale, density - p.entropy())


# From counts ----------------------------------------------------------------------------------------------------------


@register_kl(Bernoulli, Poisson)
def kl_bernoulli_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    """By p's mean: neither 0 nor 1 has a factorial but 1."""
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)
