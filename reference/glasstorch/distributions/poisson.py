"""What is the Poisson distribution?

Mirrors: torch/distributions/poisson.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.exp_family import ExponentialFamily
from glasstorch.distributions.utils import Parameter, Sizes, broadcast_all
from glasstorch.operators.generated import functions as f

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """How many events occur where `rate` are expected."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _batched = ("rate",)

    def __init__(self, rate: Parameter, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        with no_grad():
            return f.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        return natural_params[0].exp()
