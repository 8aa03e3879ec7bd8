"""What is the Dirichlet distribution?

Mirrors: torch/distributions/dirichlet.py
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.function import Function
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE
from glasstorch.distributions.exp_family import ExponentialFamily
from glasstorch.distributions.utils import Sizes
from glasstorch.operators.generated import functions as f

__all__ = ["Dirichlet"]


class _Dirichlet(Function):
    """A draw, with the gradient of each coordinate with respect to all concentrations."""

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Tensor:
        x = f._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        # A larger concentration takes from the other coordinates in proportion to them.
        return f._dirichlet_grad(x, concentration, total) * (grad_output - (x * grad_output).sum(-1, True))  # type: ignore[no-any-return]


class Dirichlet(ExponentialFamily):
    """Shares that sum to 1: gamma numbers with these concentrations, divided by their sum."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _batched = ("concentration",)

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """The corner of the largest concentration where all are below 1."""
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        corners = (self.concentration < 1).all(dim=-1)
        mode[corners] = f.one_hot(mode[corners].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))  # type: ignore[no-any-return]

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        concentration = self.concentration
        normalizer = concentration.sum(-1).lgamma() - concentration.lgamma().sum(-1)
        return f.xlogy(concentration - 1.0, value).sum(-1) + normalizer

    def entropy(self) -> Tensor:
        concentration, count = self.concentration, self.concentration.size(-1)
        total = concentration.sum(-1)
        return (  # type: ignore[no-any-return]
            concentration.lgamma().sum(-1)
            - total.lgamma()
            - (count - total) * total.digamma()
            - ((concentration - 1.0) * concentration.digamma()).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        (x,) = natural_params
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()
