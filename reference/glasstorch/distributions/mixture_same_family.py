"""What is a mixture of distributions of one kind?

Mirrors: torch/distributions/mixture_same_family.py
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.distributions import constraints
from glasstorch.distributions.categorical import Categorical
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.utils import Sizes
from glasstorch.operators.generated import functions as f

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A draw of one of the components, which is chosen by a categorical distribution.

    The components are the last batch dimension of one distribution.
    """

    arg_constraints: Any = {}
    has_rsample = False
    _batched = ("_component_distribution", "_mixture_distribution")
    _shared = ("_num_component", "_event_ndims")

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        of_mixture, batch_shape = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(of_mixture), reversed(batch_shape), strict=False):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({of_mixture}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch_shape})"
                )
        wanted, given = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if wanted != given:
            raise ValueError(
                f"`mixture_distribution component` ({wanted}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({given})"
            )
        self._num_component = wanted
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch_shape, component_distribution.event_shape, validate_args=validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """What chooses the component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    def _over_components(self, values: Tensor) -> Tensor:
        """The mean of values of the components, weighted by their probabilities."""
        probs = self.mixture_distribution.probs
        probs = probs.reshape((*probs.shape, *[1] * self._event_ndims))
        return (probs * values).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._over_components(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances and the variance of the means."""
        offsets = self.component_distribution.mean - self._pad(self.mean)
        return self._over_components(self.component_distribution.variance) + self._over_components(offsets.pow(2.0))

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x: Tensor) -> Tensor:
        return (self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:
        self._check_value(x)
        of_components = self.component_distribution.log_prob(self._pad(x))
        return f.logsumexp(of_components + f.log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        with no_grad():
            dim = len(sample_shape) + len(self.batch_shape)  # of the components
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            index = chosen.reshape((*chosen.shape, *[1] * (len(self.event_shape) + 1)))
            index = index.repeat((*[1] * chosen.dim(), 1, *self.event_shape))
            return f.gather(drawn, dim, index).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
