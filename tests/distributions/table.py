"""One row for each distribution, and the facts that are asked of every row.

`make` builds the distribution from a library and parameters; these are nested lists, of which the tests make tensors.
`values` are some that it may draw. `law` gives, for scipy.stats, the frozen law of the first parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

Library = Any
Distribution = Any


class Row(NamedTuple):
    """A distribution with parameters and values."""

    name: str
    make: Callable[..., Distribution]
    parameters: tuple[Any, ...]
    values: Any
    law: Callable[..., Any] | None = None  # (scipy.stats, *one element of each parameter)
    is_discrete: bool = False
    dtype: str = "float64"  # in which it is compared with PyTorch


def by(name: str, *keywords: str) -> Callable[..., Distribution]:
    """A constructor that takes its parameters by these names, or by position."""

    def make(library: Library, *parameters: Any) -> Distribution:
        kind = getattr(library.distributions, name)
        return kind(**dict(zip(keywords, parameters, strict=True))) if keywords else kind(*parameters)

    return make


LOC, SCALE = [-1.0, 0.5, 2.0], [0.5, 1.5, 3.0]
POSITIVE = [0.3, 1.2, 7.5]
REAL_VALUES = [-1.3, 0.7, 2.9]
SHARES = [0.1, 0.5, 0.93]
PROBS, LOGITS = [0.2, 0.5, 0.83], [-2.0, 0.0, 1.5]
WEIGHTS = [[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]]
SIMPLEX = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
ONE_HOT = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
VECTORS = [[0.5, -1.0], [2.0, 0.3]]
COVARIANCE = [[2.0, 0.5], [0.5, 1.0]]
FACTOR = [[1.5, 0.0], [0.3, 0.8]]
TEMPERATURE = 0.7


def independent(library: Library, loc: Any, scale: Any) -> Distribution:
    d = library.distributions
    return d.Independent(d.Normal(loc, scale), 1)


def mixture(library: Library, weights: Any, loc: Any, scale: Any) -> Distribution:
    d = library.distributions
    return d.MixtureSameFamily(d.Categorical(weights), d.Normal(loc, scale))


def mixture_of_vectors(library: Library, weights: Any, loc: Any, scale: Any) -> Distribution:
    d = library.distributions
    return d.MixtureSameFamily(d.Categorical(weights), d.Independent(d.Normal(loc, scale), 1))


def transformed(library: Library, loc: Any, scale: Any) -> Distribution:
    d = library.distributions
    transforms = [d.AffineTransform(loc, scale), d.SigmoidTransform(), d.AffineTransform(2.0, -3.0)]
    return d.TransformedDistribution(d.Normal(library.zeros_like(loc), library.ones_like(scale)), transforms)


def relaxed(name: str, keyword: str) -> Callable[..., Distribution]:
    def make(library: Library, temperature: Any, weights: Any) -> Distribution:
        module = library.distributions
        kind = getattr(module, name, None) or getattr(module.relaxed_categorical, name, None)
        kind = kind or getattr(module.relaxed_bernoulli, name)
        return kind(temperature, **{keyword: weights})

    return make


ROWS = [
    Row("Normal", by("Normal"), (LOC, SCALE), REAL_VALUES, lambda s, loc, scale: s.norm(loc, scale)),
    Row("Cauchy", by("Cauchy"), (LOC, SCALE), REAL_VALUES, lambda s, loc, scale: s.cauchy(loc, scale)),
    Row("Laplace", by("Laplace"), (LOC, SCALE), REAL_VALUES, lambda s, loc, scale: s.laplace(loc, scale)),
    Row("Gumbel", by("Gumbel"), (LOC, SCALE), REAL_VALUES, lambda s, loc, scale: s.gumbel_r(loc, scale)),
    Row("Uniform", by("Uniform"), (LOC, [0.0, 1.0, 4.0]), [-0.3, 0.7, 2.9],
        lambda s, low, high: s.uniform(low, high - low)),
    Row("StudentT", by("StudentT"), ([0.5, 1.5, 5.0], LOC, SCALE), REAL_VALUES,
        lambda s, df, loc, scale: s.t(df, loc, scale)),
    Row("VonMises", by("VonMises"), (LOC, [0.5, 3.0, 20.0]), REAL_VALUES,
        lambda s, loc, concentration: s.vonmises(concentration, loc)),
    Row("GeneralizedPareto", by("GeneralizedPareto"), (LOC, SCALE, [-0.4, 0.0, 0.3]), [-0.5, 0.7, 2.9],
        lambda s, loc, scale, c: s.genpareto(c, loc, scale), dtype="float32"),  # PyTorch's density is of these only
    Row("Exponential", by("Exponential"), (POSITIVE,), SCALE, lambda s, rate: s.expon(0, 1 / rate)),
    Row("Gamma", by("Gamma"), (POSITIVE, SCALE), SCALE, lambda s, a, rate: s.gamma(a, 0, 1 / rate)),
    Row("Chi2", by("Chi2"), (POSITIVE,), SCALE, lambda s, df: s.chi2(df)),
    Row("FisherSnedecor", by("FisherSnedecor"), ([1.5, 3.0, 9.0], [1.0, 3.0, 7.5]), SCALE, lambda s, a, b: s.f(a, b)),
    Row("InverseGamma", by("InverseGamma"), ([0.5, 1.5, 4.0], SCALE), SCALE, lambda s, a, b: s.invgamma(a, 0, b)),
    Row("HalfNormal", by("HalfNormal"), (SCALE,), SCALE, lambda s, scale: s.halfnorm(0, scale)),
    Row("HalfCauchy", by("HalfCauchy"), (SCALE,), SCALE, lambda s, scale: s.halfcauchy(0, scale)),
    Row("LogNormal", by("LogNormal"), (LOC, SCALE), SCALE, lambda s, loc, scale: s.lognorm(scale, 0, math.exp(loc))),
    Row("Pareto", by("Pareto"), (SCALE, [0.5, 1.5, 4.0]), [0.7, 2.0, 3.5], lambda s, scale, a: s.pareto(a, 0, scale)),
    Row("Weibull", by("Weibull"), (SCALE, [1.0, 1.5, 4.0]), SCALE, lambda s, scale, c: s.weibull_min(c, 0, scale)),
    Row("Beta", by("Beta"), (POSITIVE, SCALE), SHARES, lambda s, a, b: s.beta(a, b)),
    Row("Kumaraswamy", by("Kumaraswamy"), ([1.0, 1.2, 7.5], [1.0, 2.0, 3.0]), SHARES),
    Row("ContinuousBernoulli", by("ContinuousBernoulli", "probs"), (PROBS,), SHARES),
    Row("ContinuousBernoulli of logits", by("ContinuousBernoulli", "logits"), (LOGITS,), SHARES),
    Row("Bernoulli", by("Bernoulli", "probs"), (PROBS,), [0.0, 1.0, 1.0], lambda s, p: s.bernoulli(p), True),
    Row("Bernoulli of logits", by("Bernoulli", "logits"), (LOGITS,), [0.0, 1.0, 1.0],
        lambda s, x: s.bernoulli(1 / (1 + math.exp(-x))), True),
    Row("Geometric", by("Geometric", "probs"), (PROBS,), [0.0, 2.0, 5.0], lambda s, p: s.geom(p, loc=-1), True),
    Row("Geometric of logits", by("Geometric", "logits"), (LOGITS,), [0.0, 2.0, 5.0], None, True),
    Row("Binomial", by("Binomial"), ([6.0, 6.0, 6.0], PROBS), [0.0, 2.0, 5.0], lambda s, n, p: s.binom(n, p), True),
    Row("Binomial of logits", by("Binomial", "total_count", "logits"), ([6.0, 3.0, 9.0], LOGITS), [0.0, 2.0, 5.0], None,
        True),
    Row("NegativeBinomial", by("NegativeBinomial"), (SCALE, PROBS), [0.0, 2.0, 5.0],
        lambda s, n, p: s.nbinom(n, 1 - p), True),
    Row("NegativeBinomial of logits", by("NegativeBinomial", "total_count", "logits"), (SCALE, LOGITS),
        [0.0, 2.0, 5.0], None, True),
    Row("Poisson", by("Poisson"), ([0.5, 3.0, 30.0],), [0.0, 2.0, 25.0], lambda s, rate: s.poisson(rate), True),
    Row("Categorical", by("Categorical", "probs"), (WEIGHTS,), [0.0, 2.0], None, True),
    Row("Categorical of logits", by("Categorical", "logits"), ([LOGITS, LOC],), [0.0, 2.0], None, True),
    Row("OneHotCategorical", by("OneHotCategorical", "probs"), (WEIGHTS,), ONE_HOT, None, True),
    Row("OneHotCategoricalStraightThrough", by("OneHotCategoricalStraightThrough", "logits"), ([LOGITS, LOC],), ONE_HOT,
        None, True),
    Row("Multinomial", lambda t, w: t.distributions.Multinomial(5, w), (WEIGHTS,), [[1.0, 1.0, 3.0], [5.0, 0.0, 0.0]],
        None, True),
    Row("Multinomial of logits", lambda t, w: t.distributions.Multinomial(4, logits=w), ([LOGITS, LOC],),
        [[1.0, 1.0, 2.0], [4.0, 0.0, 0.0]], None, True),
    Row("Dirichlet", by("Dirichlet"), ([[0.5, 1.0, 2.5], [3.0, 0.8, 9.0]],), SIMPLEX),
    Row("LogisticNormal", by("LogisticNormal"), ([LOC, LOC], [SCALE, SCALE]),
        [[0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.3, 0.2]]),
    Row("RelaxedBernoulli", relaxed("RelaxedBernoulli", "probs"), (TEMPERATURE, PROBS), SHARES),
    Row("LogitRelaxedBernoulli", relaxed("LogitRelaxedBernoulli", "logits"), (TEMPERATURE, LOGITS), REAL_VALUES),
    Row("RelaxedOneHotCategorical", relaxed("RelaxedOneHotCategorical", "probs"), (TEMPERATURE, WEIGHTS), SIMPLEX),
    Row("ExpRelaxedCategorical", relaxed("ExpRelaxedCategorical", "logits"), (TEMPERATURE, [LOGITS, LOC]),
        [[-1.0, -2.0, -0.7], [-0.3, -2.0, -3.0]]),
    Row("MultivariateNormal", by("MultivariateNormal", "loc", "covariance_matrix"), (VECTORS, COVARIANCE), VECTORS),
    Row("MultivariateNormal of batches", by("MultivariateNormal", "loc", "precision_matrix"),
        (VECTORS, [COVARIANCE, [[1.0, 0.1], [0.1, 3.0]]]), VECTORS),
    Row("MultivariateNormal of factors", by("MultivariateNormal", "loc", "scale_tril"), ([0.5, 1.0], FACTOR), VECTORS),
    Row("LowRankMultivariateNormal", by("LowRankMultivariateNormal"), (VECTORS, [[1.0], [0.5]], [0.3, 0.8]), VECTORS),
    Row("Wishart", by("Wishart", "df", "covariance_matrix"), ([3.5, 6.0], COVARIANCE), [COVARIANCE, COVARIANCE]),
    Row("Wishart of precisions", by("Wishart", "df", "precision_matrix"), (4.0, COVARIANCE), COVARIANCE),
    Row("Wishart of factors", by("Wishart", "df", "scale_tril"), ([3.5, 6.0], [FACTOR, FACTOR]),
        [COVARIANCE, COVARIANCE]),
    Row("LKJCholesky", lambda t, c: t.distributions.LKJCholesky(3, c), ([0.5, 2.0],),
        [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.48, 0.6, 0.64]]),
    Row("Independent", independent, ([LOC, LOC], [SCALE, SCALE]), [REAL_VALUES, SCALE]),
    Row("MixtureSameFamily", mixture, (WEIGHTS, [LOC, LOC], [SCALE, SCALE]), [0.3, 2.0]),
    Row("MixtureSameFamily of vectors", mixture_of_vectors, (WEIGHTS[0], [[1.0, 2.0]] * 3, [[1.5, 0.5]] * 3), VECTORS),
    Row("TransformedDistribution", transformed, (LOC, SCALE), [-0.5, 0.7, 1.9]),
]  # fmt: skip


def tensors(library: Library, row: Row, dtype: str, requires_grad: bool = False) -> list[Any]:
    """The parameters of a row."""
    kind = getattr(library, dtype)
    return [library.tensor(p, dtype=kind, requires_grad=requires_grad) for p in row.parameters]


def made(library: Library, row: Row, dtype: str | None = None) -> Distribution:
    return row.make(library, *tensors(library, row, dtype or row.dtype))


def values_of(library: Library, row: Row) -> Any:
    """The values of a row."""
    return library.tensor(row.values, dtype=getattr(library, row.dtype))
