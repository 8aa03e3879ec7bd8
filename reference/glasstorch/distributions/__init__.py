"""Which probability distributions are there, with densities, draws, moments and divergences?

Reading order: `utils`, `constraints/`, `distribution` (what all can do), `exp_family`, `transforms/`,
`constraint_registry`; one file for each distribution: of a real number `location_scale` (what the next three share),
`normal`, `cauchy`, `laplace`, `uniform`, `exponential`, `gamma`, `chi2`, `fishersnedecor`, `studentT`,
`generalized_pareto`, `von_mises`, of shares `dirichlet`, `beta`, `continuous_bernoulli`, of counts `probabilities`
(what those given by probabilities share), `bernoulli`, `binomial`, `geometric`, `poisson`, `negative_binomial`, of
categories `categorical`, `weights` (what its relatives share), `one_hot_categorical`, `multinomial`, of vectors and
matrices `multivariate_normal`, `lowrank_multivariate_normal`, `wishart`, `lkj_cholesky`; those made of others:
`independent`, `mixture_same_family`, `transformed_distribution`, `log_normal`, `folded` (what the next two share),
`half_normal`, `half_cauchy`, `gumbel`, `inverse_gamma`, `kumaraswamy`, `pareto`, `weibull`, `logistic_normal`,
`relaxed_bernoulli`, `relaxed_categorical`; last `kl/`, how far two are apart.

Mirrors: torch/distributions/__init__.py
Differs: `constraints`, `transforms` and `kl` are folders; what PyTorch repeats in each distribution is written once.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.distributions import constraints as constraints
from glasstorch.distributions import kl as kl
from glasstorch.distributions import transforms as transforms
from glasstorch.distributions.bernoulli import Bernoulli as Bernoulli
from glasstorch.distributions.beta import Beta as Beta
from glasstorch.distributions.binomial import Binomial as Binomial
from glasstorch.distributions.categorical import Categorical as Categorical
from glasstorch.distributions.cauchy import Cauchy as Cauchy
from glasstorch.distributions.chi2 import Chi2 as Chi2
from glasstorch.distributions.constraint_registry import biject_to as biject_to
from glasstorch.distributions.constraint_registry import transform_to as transform_to
from glasstorch.distributions.continuous_bernoulli import ContinuousBernoulli as ContinuousBernoulli
from glasstorch.distributions.dirichlet import Dirichlet as Dirichlet
from glasstorch.distributions.distribution import Distribution as Distribution
from glasstorch.distributions.exp_family import ExponentialFamily as ExponentialFamily
from glasstorch.distributions.exponential import Exponential as Exponential
from glasstorch.distributions.fishersnedecor import FisherSnedecor as FisherSnedecor
from glasstorch.distributions.gamma import Gamma as Gamma
from glasstorch.distributions.generalized_pareto import GeneralizedPareto as GeneralizedPareto
from glasstorch.distributions.geometric import Geometric as Geometric
from glasstorch.distributions.gumbel import Gumbel as Gumbel
from glasstorch.distributions.half_cauchy import HalfCauchy as HalfCauchy
from glasstorch.distributions.half_normal import HalfNormal as HalfNormal
from glasstorch.distributions.independent import Independent as Independent
from glasstorch.distributions.inverse_gamma import InverseGamma as InverseGamma
from glasstorch.distributions.kl.dispatch import kl_divergence as kl_divergence
from glasstorch.distributions.kl.dispatch import register_kl as register_kl
from glasstorch.distributions.kumaraswamy import Kumaraswamy as Kumaraswamy
from glasstorch.distributions.laplace import Laplace as Laplace
from glasstorch.distributions.lkj_cholesky import LKJCholesky as LKJCholesky
from glasstorch.distributions.log_normal import LogNormal as LogNormal
from glasstorch.distributions.logistic_normal import LogisticNormal as LogisticNormal
from glasstorch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal as LowRankMultivariateNormal
from glasstorch.distributions.mixture_same_family import MixtureSameFamily as MixtureSameFamily
from glasstorch.distributions.multinomial import Multinomial as Multinomial
from glasstorch.distributions.multivariate_normal import MultivariateNormal as MultivariateNormal
from glasstorch.distributions.negative_binomial import NegativeBinomial as NegativeBinomial
from glasstorch.distributions.normal import Normal as Normal
from glasstorch.distributions.one_hot_categorical import OneHotCategorical as OneHotCategorical
from glasstorch.distributions.one_hot_categorical import (
    OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
)
from glasstorch.distributions.pareto import Pareto as Pareto
from glasstorch.distributions.poisson import Poisson as Poisson
from glasstorch.distributions.relaxed_bernoulli import RelaxedBernoulli as RelaxedBernoulli
from glasstorch.distributions.relaxed_categorical import RelaxedOneHotCategorical as RelaxedOneHotCategorical
from glasstorch.distributions.studentT import StudentT as StudentT
from glasstorch.distributions.transformed_distribution import TransformedDistribution as TransformedDistribution
from glasstorch.distributions.transforms.composition import ComposeTransform as ComposeTransform
from glasstorch.distributions.transforms.composition import IndependentTransform as IndependentTransform
from glasstorch.distributions.transforms.composition import ReshapeTransform as ReshapeTransform
from glasstorch.distributions.transforms.composition import identity_transform as identity_transform
from glasstorch.distributions.transforms.elementwise import AbsTransform as AbsTransform
from glasstorch.distributions.transforms.elementwise import AffineTransform as AffineTransform
from glasstorch.distributions.transforms.elementwise import (
    CumulativeDistributionTransform as CumulativeDistributionTransform,
)
from glasstorch.distributions.transforms.elementwise import ExpTransform as ExpTransform
from glasstorch.distributions.transforms.elementwise import PowerTransform as PowerTransform
from glasstorch.distributions.transforms.elementwise import SigmoidTransform as SigmoidTransform
from glasstorch.distributions.transforms.elementwise import SoftplusTransform as SoftplusTransform
from glasstorch.distributions.transforms.elementwise import TanhTransform as TanhTransform
from glasstorch.distributions.transforms.pieces import CatTransform as CatTransform
from glasstorch.distributions.transforms.pieces import StackTransform as StackTransform
from glasstorch.distributions.transforms.structured import CorrCholeskyTransform as CorrCholeskyTransform
from glasstorch.distributions.transforms.structured import LowerCholeskyTransform as LowerCholeskyTransform
from glasstorch.distributions.transforms.structured import PositiveDefiniteTransform as PositiveDefiniteTransform
from glasstorch.distributions.transforms.structured import SoftmaxTransform as SoftmaxTransform
from glasstorch.distributions.transforms.structured import StickBreakingTransform as StickBreakingTransform
from glasstorch.distributions.transforms.transform import Transform as Transform
from glasstorch.distributions.uniform import Uniform as Uniform
from glasstorch.distributions.von_mises import VonMises as VonMises
from glasstorch.distributions.weibull import Weibull as Weibull
from glasstorch.distributions.wishart import Wishart as Wishart

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transform_to",
]

__getattr__ = _refuse_unknown_names(__name__)
