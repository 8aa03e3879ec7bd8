"""What shape and dtype do numbers drawn with a parameter for each element have, and which parameters are accepted?

Mirrors: multinomial_out, _s_binomial_cpu, _s_poisson_cpu, _s_gamma_cpu, _s_dirichlet_cpu, _standard_gamma_grad_cpu and
    _dirichlet_grad_cpu in aten/src/ATen/native/Distributions.cpp (the checks)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentValueError, DtypeError, ShapeError
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.core.random.generator import Generator
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

MOST_CATEGORIES = 1 << 24  # the largest integer that float32 counts to exactly, a limit that PyTorch keeps


def multinomial(self: Tensor, num_samples: int, replacement: bool, generator: Generator | None) -> Result:
    """int64 indices, `num_samples` per row; without replacement, a row must have that many weights."""
    shape = self._shape
    if not 0 < len(shape) <= 2:
        raise ShapeError(f"prob_dist must be 1 or 2 dim, got {len(shape)}")
    if not self.dtype.is_floating_point:
        raise DtypeError(f"multinomial only supports floating-point dtypes for input, got: {self.dtype.scalar_name}")
    if num_samples <= 0:
        raise ShapeError(f"cannot sample n_sample <= 0 samples, got {num_samples}")
    if not replacement and num_samples > shape[-1]:
        raise ShapeError(
            f"cannot sample n_sample > prob_dist.size(-1) samples without replacement, got {num_samples} of {shape[-1]}"
        )
    if shape[-1] > MOST_CATEGORIES:
        raise ShapeError(f"number of categories cannot exceed 2^24, got {shape[-1]}")
    return Result((*shape[:-1], num_samples), int64)


def drawn(self: Tensor, generator: Generator | None) -> Result:
    """A number for each parameter, in its dtype, row-major."""
    return Result(self._shape, self.dtype)


def binomial(count: Tensor, prob: Tensor, generator: Generator | None) -> Result:
    """A number for each pair of a count and a probability, broadcast; both have one floating dtype."""
    for name, parameter in (("count", count), ("prob", prob)):
        if not parameter.dtype.is_floating_point:
            found = parameter.dtype.scalar_name
            raise ArgumentValueError(f"binomial only supports floating-point dtypes for {name}, got: {found}")
    return _alike(count, prob)


def standard_gamma_grad(self: Tensor, output: Tensor) -> Result:
    """A derivative for each pair of a concentration and a number drawn with it, broadcast; both have one dtype."""
    return _alike(self, output)


def dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Result:
    """A derivative for each coordinate, its concentration and the sum of all, broadcast; they have one dtype."""
    return _alike(x, alpha, total)


def _alike(*tensors: Tensor) -> Result:
    first = tensors[0].dtype
    for other in tensors[1:]:
        if other.dtype is not first:
            raise DtypeError(f"Found dtype {other.dtype.scalar_name} but expected {first.scalar_name}")
    return Result(broadcast_shapes(*(t._shape for t in tensors)), first)
