"""How does a distribution of an exponential family know its entropy from the normalizer alone?

Mirrors: torch/distributions/exp_family.py

The density is `exp(<T(x), theta> - F(theta) + k(x))` with natural parameters theta, statistics T, log normalizer F and
carrier measure k. The gradient of F is the mean of T, so that the entropy is `F - <theta, grad F> - E[k]`: autograd
gives it. The same gradient gives the divergence of two members (`kl`).
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.graph import grad
from glasstorch.distributions.distribution import Distribution
from glasstorch.distributions.utils import sum_rightmost

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution with natural parameters; a subclass gives these and the log normalizer."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        """The natural parameters."""
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        """The logarithm of the integral that the density is divided by."""
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        """The mean of the carrier measure."""
        raise NotImplementedError

    def _at_natural_params(self) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
        """The natural parameters as leaves, the log normalizer there, and its gradients, themselves differentiable."""
        leaves = [parameter.detach().requires_grad_() for parameter in self._natural_params]
        normalizer = self._log_normalizer(*leaves)
        return leaves, normalizer, grad(normalizer.sum(), leaves, create_graph=True)

    def entropy(self) -> Tensor:
        """The entropy, by the gradient of the log normalizer."""
        leaves, normalizer, gradients = self._at_natural_params()
        result = normalizer - self._mean_carrier_measure
        for parameter, gradient in zip(leaves, gradients, strict=True):
            product = parameter * gradient
            result = result - sum_rightmost(product, product.dim() - len(self._batch_shape))
        return result  # type: ignore[no-any-return]
