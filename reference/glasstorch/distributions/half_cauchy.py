"""What is the half-Cauchy distribution?

Mirrors: torch/distributions/half_cauchy.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.distributions.cauchy import Cauchy
from glasstorch.distributions.folded import Folded
from glasstorch.distributions.utils import Parameter
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.creation import as_tensor

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """The absolute value of a Cauchy number around 0."""

    base_dist: Cauchy
    _batched = ()

    def __init__(self, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return f.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)  # here as well, since a number that is no tensor passes only where checks are off
        return super().log_prob(as_tensor(value, dtype=self.scale.dtype, device=self.scale.device))
