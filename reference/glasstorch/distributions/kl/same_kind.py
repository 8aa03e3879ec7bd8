"""How far are two distributions of one kind apart?

Mirrors: torch/distributions/kl.py
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.distributions.bernoulli import Bernoulli
from glasstorch.distributions.beta import Beta
from glasstorch.distributions.binomial import Binomial
from glasstorch.distributions.categorical import Categorical
from glasstorch.distributions.cauchy import Cauchy
from glasstorch.distributions.continuous_bernoulli import ContinuousBernoulli
from glasstorch.distributions.dirichlet import Dirichlet
from glasstorch.distributions.exp_family import ExponentialFamily
from glasstorch.distributions.exponential import Exponential
from glasstorch.distributions.gamma import Gamma
from glasstorch.distributions.geometric import Geometric
from glasstorch.distributions.gumbel import Gumbel
from glasstorch.distributions.half_normal import HalfNormal
from glasstorch.distributions.independent import Independent
from glasstorch.distributions.kl.dispatch import kl_divergence, register_kl
from glasstorch.distributions.laplace import Laplace
from glasstorch.distributions.normal import Normal
from glasstorch.distributions.one_hot_categorical import OneHotCategorical
from glasstorch.distributions.pareto import Pareto
from glasstorch.distributions.poisson import Poisson
from glasstorch.distributions.transformed_distribution import TransformedDistribution
from glasstorch.distributions.uniform import Uniform
from glasstorch.distributions.utils import euler_constant, sum_rightmost
from glasstorch.operators.generated import functions as f

# Any kind -------------------------------------------------------------------------------------------------------------


@register_kl(ExponentialFamily, ExponentialFamily)
def kl_of_exponential_families(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log normalizer F at the natural parameters: `F(q) - F(p) - <q - p, grad F(p)>`."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed "
            f"using Bregman divergences: {type(p).__name__} and {type(q).__name__}"
        )
    leaves, normalizer, gradients = p._at_natural_params()
    others = q._natural_params
    result = q._log_normalizer(*others) - normalizer
    for own, other, gradient in zip(leaves, others, gradients, strict=True):
        result = result - sum_rightmost((other - own) * gradient, len(q.event_shape))
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def kl_of_transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """One bijection of both changes nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("KL(p || q) of distributions that are transformed differently is not implemented")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def kl_of_independent(p: Independent[Any], q: Independent[Any]) -> Tensor:
    """Divergences of independent parts add up."""
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError(
            "KL(p || q) of events with different numbers of dimensions is not implemented: "
            f"{p.reinterpreted_batch_ndims} and {q.reinterpreted_batch_ndims}"
        )
    result = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(result, p.reinterpreted_batch_ndims)  # type: ignore[no-any-return]


# Discrete -------------------------------------------------------------------------------------------------------------


@register_kl(Bernoulli, Bernoulli)
def kl_bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    """The sum over both values; what p never draws counts 0, what only q never draws is infinitely far."""
    ones = p.probs * (f.softplus(-q.logits) - f.softplus(-p.logits))
    ones = f.where(p.probs == 0, 0.0, f.where(q.probs == 0, math.inf, ones))
    zeros = (1 - p.probs) * (f.softplus(q.logits) - f.softplus(p.logits))
    return ones + f.where(p.probs == 1, 0.0, f.where(q.probs == 1, math.inf, zeros))


@register_kl(Binomial, Binomial)
def kl_binomial(p: Binomial, q: Binomial) -> Tensor:
    """As often the divergence of one trial as there are; infinite where p has more trials than q."""
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    of_one = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return f.where(p.total_count > q.total_count, math.inf, p.total_count * of_one)


@register_kl(Categorical, Categorical)
def kl_categorical(p: Categorical, q: Categorical) -> Tensor:
    """The sum over all categories."""
    terms = p.probs * (p.logits - q.logits)
    return f.where(p.probs == 0, 0.0, f.where(q.probs == 0, math.inf, terms)).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def kl_one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    """As of the categories."""
    return kl_categorical(p._categorical, q._categorical)


@register_kl(Geometric, Geometric)
def kl_geometric(p: Geometric, q: Geometric) -> Tensor:
    """By p's mean."""
    return -p.entropy() - f.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def kl_poisson(p: Poisson, q: Poisson) -> Tensor:
    """By p's mean."""
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


# Shares ---------------------------------------------------------------------------------------------------------------


@register_kl(Beta, Beta)
def kl_beta(p: Beta, q: Beta) -> Tensor:
    """As of Dirichlet distributions of two."""
    return kl_dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Dirichlet, Dirichlet)
def kl_dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    """By the mean logarithms of p's shares."""
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    normalizers = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return normalizers + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def kl_continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    """By p's mean."""
    of_p = p._cont_bern_log_norm() + f.log1p(-p.probs)
    of_q = q._cont_bern_log_norm() + f.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + of_p - of_q


@register_kl(Uniform, Uniform)
def kl_uniform(p: Uniform, q: Uniform) -> Tensor:
    """The logarithm of the quotient of lengths; infinite where p reaches beyond q."""
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return f.where((q.low > p.low) | (q.high < p.high), math.inf, result)


# Positive numbers -----------------------------------------------------------------------------------------------------


@register_kl(Exponential, Exponential)
def kl_exponential(p: Exponential, q: Exponential) -> Tensor:
    """By the quotient of rates."""
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Gamma, Gamma)
def kl_gamma(p: Gamma, q: Gamma) -> Tensor:
    """By the means of p's draws and of their logarithms."""
    return (
        q.concentration * (p.rate / q.rate).log()
        + (q.concentration.lgamma() - p.concentration.lgamma())
        + (p.concentration - q.concentration) * p.concentration.digamma()
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(HalfNormal, HalfNormal)
def kl_half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    """As of the normal distributions: both densities are doubled."""
    return kl_normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def kl_pareto(p: Pareto, q: Pareto) -> Tensor:
    """Infinite where p begins below q."""
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return f.where(p.scale < q.scale, math.inf, result)


# Real numbers ---------------------------------------------------------------------------------------------------------


@register_kl(Normal, Normal)
def kl_normal(p: Normal, q: Normal) -> Tensor:
    """By the quotient of variances and the distance of means."""
    ratio = (p.scale / q.scale).pow(2)
    distance = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + distance - 1 - ratio.log())


@register_kl(Laplace, Laplace)
def kl_laplace(p: Laplace, q: Laplace) -> Tensor:
    """By the mean distance of p's draws from q's centre."""
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * f.exp(-distance / p.scale) - 1


@register_kl(Cauchy, Cauchy)
def kl_cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """In closed form since Chyzak and Nielsen (2019); it is symmetric."""
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def kl_gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    """By the means of p's draws and of exponentials of them."""
    ratio = p.scale / q.scale
    offset = (q.loc - p.loc) / q.scale
    return -ratio.log() - offset + ratio * euler_constant + f.exp(offset + (1 + ratio).lgamma()) - (1 + euler_constant)
