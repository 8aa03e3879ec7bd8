"""What shapes and dtypes do kthvalue, median, mode and topk return?

Mirrors: aten/src/ATen/native/Sorting.cpp (kthvalue_out_impl_cpu, median_with_indices_impl, TORCH_META_FUNC(topk)),
    aten/src/ATen/native/TensorCompare.cpp (mode)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import dtype, int64
from glasstorch.core.errors import DimensionError, DtypeError, IndexValueError
from glasstorch.core.geometry import wrap_dim
from glasstorch.operators.shapes.reductions.sums import reduced_shape
from glasstorch.operators.shapes.result import OutRule, Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def kthvalue(self: Tensor, k: int, dim: int, keepdim: bool) -> tuple[Result, Result]:
    """Values, and indices as int64; k counts from 1."""
    d = _reduced_dim("kthvalue", self, dim)
    size = self._shape[d] if self._shape else 1
    if not 1 <= k <= size:
        raise IndexValueError(
            f"kthvalue(): selected number k out of range for dimension {d}: expected 1 to {size}, got {k}"
        )
    return _picked(self, d, keepdim, _kthvalue_out, _kthvalue_out)


def _kthvalue_out(result: dtype, out: dtype) -> None:
    if result is not out:
        what = "indices must be of scalar type Long" if result is int64 else "values must be of same type as input"
        raise DtypeError(f"output {what}")


def median(self: Tensor) -> Result:
    """One element; the smaller of two middle ones."""
    return Result((), self.dtype, None, same_dtype)


def median_dim(self: Tensor, dim: int, keepdim: bool) -> tuple[Result, Result]:
    """Values, and indices as int64."""
    return _picked(self, _reduced_dim("median", self, dim), keepdim, _median_values_out, _median_indices_out)


def _median_values_out(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(
            f"Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type "
            f"torch.{out.scalar_name}Tensor does not equal torch.{result.scalar_name}Tensor (while checking arguments "
            f"for median)"
        )


def _median_indices_out(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(
            f"Expected tensor for argument #1 'indices' to have scalar type Long; but got "
            f"torch.{out.scalar_name}Tensor instead (while checking arguments for median)"
        )


def mode(self: Tensor, dim: int, keepdim: bool) -> tuple[Result, Result]:
    """Values, and indices as int64."""
    return _picked(self, _reduced_dim("mode", self, dim), keepdim, _mode_values_out, _mode_indices_out)


def _mode_values_out(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(f"expected scalar type '{result.scalar_name}' but got '{out.scalar_name}' for values output")


def _mode_indices_out(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(f"expected scalar type '{result.scalar_name}' but got '{out.scalar_name}' for indices output")


def topk(self: Tensor, k: int, dim: int, largest: bool, sorted: bool) -> tuple[Result, Result]:
    """Values and int64 indices, k of them along the dimension."""
    d = wrap_dim(dim, len(self._shape))
    size = self._shape[d] if self._shape else 1
    if not 0 <= k <= size:
        raise IndexValueError(f"selected index k out of range: expected 0 to {size} along dimension {d}, got {k}")
    shape = (*self._shape[:d], k, *self._shape[d + 1 :]) if self._shape else ()
    return Result(shape, self.dtype, None, same_dtype), Result(shape, int64, None, same_dtype)


def _reduced_dim(name: str, self: Tensor, dim: int) -> int:
    d = wrap_dim(dim, len(self._shape))
    if self._shape and not self._shape[d]:
        raise DimensionError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
    return d


def _picked(self: Tensor, d: int, keepdim: bool, values: OutRule, indices: OutRule) -> tuple[Result, Result]:
    shape = reduced_shape(self._shape, (d,), keepdim)
    return Result(shape, self.dtype, None, values), Result(shape, int64, None, indices)
