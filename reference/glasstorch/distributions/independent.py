"""How do batch dimensions of a distribution become part of its event?

Mirrors: torch/distributions/independent.py
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.distributions import constraints
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.utils import Sizes, sum_rightmost

__all__ = ["Independent"]

D = TypeVar("D", bound=Distribution)


class Independent(Distribution, Generic[D]):
    """A distribution whose last batch dimensions count as one event: `log_prob` sums over them.

    >>> import glasstorch as torch
    >>> of_numbers = torch.distributions.Normal(torch.zeros(3, 2), 1.0)
    >>> of_vectors = Independent(of_numbers, 1)
    >>> of_numbers.batch_shape, of_vectors.batch_shape, of_vectors.event_shape
    (torch.Size([3, 2]), torch.Size([3]), torch.Size([2]))
    """

    arg_constraints: Any = {}
    base_dist: D
    _batched = ("base_dist",)
    _shared = ("reinterpreted_batch_ndims",)

    def __init__(self, base_distribution: D, reinterpreted_batch_ndims: int, validate_args: bool | None = None) -> None:
        kept = len(base_distribution.batch_shape) - reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )
        shape = base_distribution.batch_shape + base_distribution.event_shape
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:kept], shape[kept:], validate_args=validate_args)

    @property
    def has_rsample(self) -> Any:
        """As the base."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> Any:
        """As the base, unless dimensions were taken into the event: all combinations are not enumerated."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        result = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(result, count) if count else result

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)  # type: ignore[no-any-return]

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)  # type: ignore[no-any-return]

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
