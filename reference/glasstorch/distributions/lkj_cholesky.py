"""What is the LKJ distribution of correlation matrices?

Mirrors: torch/distributions/lkj_cholesky.py
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.type_info import finfo
from glasstorch.distributions import constraints
from glasstorch.distributions.beta import Beta
from glasstorch.distributions.distribution import NO_SHAPE, Distribution
from glasstorch.distributions.utils import Parameter, Sizes, broadcast_all
from glasstorch.operators.generated import functions as f

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices, whose density is `det(matrix) ** (concentration - 1)`.

    With concentration 1 all correlation matrices are equally likely (Lewandowski, Kurowicka and Joe, 2009).
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _batched = ("concentration", "_beta")
    _shared = ("dim",)

    def __init__(self, dim: int, concentration: Parameter = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # How much of each row's length lies before the diagonal; the first row's is replaced.
        like: Any = {"dtype": self.concentration.dtype, "device": self.concentration.device}
        offset = f.cat([f.zeros((1,), **like), f.arange(dim - 1, **like)])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.shape, (dim, dim), validate_args)

    def sample(self, sample_shape: Sizes = NO_SHAPE) -> Tensor:
        """Draws by the onion method: each row is a direction, times a root of a beta number."""
        lengths = self._beta.sample(sample_shape).unsqueeze(-1)
        shape = self._extended_shape(sample_shape)
        normal = f.randn(shape, dtype=lengths.dtype, device=lengths.device).tril(-1)
        directions = normal / f.linalg_vector_norm(normal, dim=-1, keepdim=True)
        directions[..., 0, :].fill_(0.0)
        below = lengths.sqrt() * directions
        left = (1 - (below**2).sum(dim=-1)).clamp(min=finfo(below.dtype).tiny)
        return below + f.diag_embed(left.sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        rows = f.arange(2, self.dim + 1, device=self.concentration.device)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - rows
        density = (powers * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log()).sum(dim=-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        normalizer = 0.5 * less * math.log(math.pi) + f.mvlgamma(alpha - 0.5, less) - alpha.lgamma() * less
        return density - normalizer
