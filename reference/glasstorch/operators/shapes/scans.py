"""What shape and dtype do cumulative sums, products and extrema have?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (meta_func_cum_ops, cummax_out, _logcumsumexp_out_cpu)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import dtype, int64
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.operators.shapes.reductions.moments import accumulated
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def cumulative(self: Tensor, dim: int, dtype: dtype | None) -> Result:
    """The input's shape."""
    wrap_dim(dim, len(self._shape))
    return accumulated(self, self._shape, dtype)


cumsum = cumprod = cumulative


def _running_extremum(self: Tensor, dim: int) -> tuple[Result, Result]:
    """The input's shape twice: values, and indices as int64."""
    wrap_dim(dim, len(self._shape))
    return Result(self._shape, self.dtype, None, _scalar_type), Result(self._shape, int64, None, _scalar_type)


def logcumsumexp(self: Tensor, dim: int) -> Result:
    """The input's shape and dtype."""
    wrap_dim(dim, len(self._shape))
    return Result(self._shape, self.dtype, None, _scalar_type)


def _scalar_type(result: dtype, out: dtype) -> None:
    """The out= rule of PyTorch's checkScalarType: no casting."""
    if result is not out:
        raise DtypeError(f"expected scalar_type {result.scalar_name} but found {out.scalar_name}")


cummax = cummin = _running_extremum
