"""What shape and dtype do norms, cross products and traces have?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (TORCH_META_FUNC(linalg_vector_norm)), Cross.cpp,
    ReduceOps.cpp (trace_cpu), Normalization.cpp (TORCH_META_FUNC(renorm))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number, dtype, promote_types
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.geometry import broadcast_shapes, wrap_dim
from glasstorch.operators.shapes.linalg.decompositions import check_floating
from glasstorch.operators.shapes.reductions.moments import accumulated
from glasstorch.operators.shapes.reductions.sums import reduced_dims, reduced_shape
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def vector_norm(self: Tensor, ord: Number, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None) -> Result:
    """The norm of a tensor's elements over dimensions; real for complex inputs too."""
    name = "linalg.vector_norm"
    check_floating(self, name)
    check_norm_dtype(self, dtype, name)
    dims = reduced_dims(dim, len(self._shape))
    if 0 in self._shape and (abs(ord) == float("inf") or (isinstance(ord, int | float) and ord < 0)):
        if dim is None or not dim:
            raise ShapeError(
                f"linalg.vector_norm cannot compute the {ord:g} norm on an empty tensor because the operation does not "
                f"have an identity"
            )
        if any(self._shape[d] == 0 for d in dims):
            raise ShapeError(
                f"linalg.vector_norm cannot compute the {ord:g} norm on the dimension {dims[0]} because this dimension "
                f"is empty and the operation does not have an identity"
            )
    computed = (dtype or self.dtype).to_real()
    return Result(reduced_shape(self._shape, dims, keepdim), computed, None, same_dtype)


def check_norm_dtype(self: Tensor, dtype: dtype | None, name: str) -> None:
    """Refuse a `dtype` that turns real numbers complex or complex ones real, or that narrows them.

    Mirrors: aten/src/ATen/native/LinearAlgebraUtils.h (checkNormType: linalg_norm_dtype_check)
    """
    if dtype is None:
        return
    if not (dtype.is_floating_point or dtype.is_complex):
        raise DtypeError(f"{name}: dtype should be floating point or complex, but got {dtype.scalar_name}")
    if dtype.is_complex is not self.dtype.is_complex:
        kind = "complex" if self.dtype.is_complex else "real"
        raise DtypeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {dtype.scalar_name}")
    if promote_types(self.dtype, dtype) is not dtype:
        raise DtypeError(
            f"{name}: the dtype of the input ({self.dtype.scalar_name}) should be convertible without narrowing to the "
            f"specified dtype ({dtype.scalar_name})"
        )


def cross(self: Tensor, other: Tensor, dim: int) -> Result:
    """Sizes broadcast; the dimension has size 3 in both."""
    if len(self._shape) != len(other._shape):
        raise ShapeError("linalg.cross: inputs must have the same number of dimensions.")
    d = wrap_dim(dim, len(self._shape))
    if self._shape[d] != 3 or other._shape[d] != 3:
        raise ShapeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {self._shape[d]} and {other._shape[d]}"
        )
    if self.dtype is not other.dtype:
        raise DtypeError(f"expected scalar type {self.dtype.scalar_name} but found {other.dtype.scalar_name}")
    return Result(broadcast_shapes(self._shape, other._shape), self.dtype, check_out=same_dtype)


def trace(self: Tensor) -> Result:
    """One element; integers are summed as int64."""
    if len(self._shape) != 2:
        raise ShapeError(f"trace: expected a matrix, but got tensor with dim {len(self._shape)}")
    return accumulated(self, (), None)._replace(check_out=same_dtype)


def renorm(self: Tensor, p: Number, dim: int, maxnorm: Number) -> Result:
    """The tensor's own sizes and dtype."""
    if isinstance(p, complex):
        raise ArgumentError("renorm: p must be real-valued")
    if not p > 0:
        raise ArgumentError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise ArgumentError("renorm: maxnorm must be real-valued")
    if not maxnorm >= 0:
        raise ArgumentError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if len(self._shape) < 2:
        raise ShapeError(f"renorm: input needs at least 2 dimensions, got {len(self._shape)} dimensions")
    wrap_dim(dim, len(self._shape))
    return Result(self._shape, self.dtype, None, same_dtype)
