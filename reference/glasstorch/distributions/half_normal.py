"""What is the half-normal distribution?

Mirrors: torch/distributions/half_normal.py
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.distributions.folded import Folded
from glasstorch.distributions.normal import Normal
from glasstorch.distributions.utils import Parameter

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """The absolute value of a normal number of mean 0 and standard deviation `scale`."""

    base_dist: Normal
    _batched = ()

    def __init__(self, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)
