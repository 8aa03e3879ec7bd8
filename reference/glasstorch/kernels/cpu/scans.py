"""How are running sums, products and extrema computed on the CPU?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (cumsum, cumprod, cummax_cummin_helper), cpu/ReduceOpsKernel.cpp
    (cumsum_cpu_kernel, cumprod_cpu_kernel, logcumsumexp_cpu_kernel), cpu/LogAddExp.h
Differs: NumPy's accumulate. float32 is accumulated in float64 and rounded once, as there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import BY_NAME, FLOAT8, FLOATING, dtype, int64
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions import UNORDERED, check_implemented, finish, widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import shape_function, structured
from glasstorch.operators.shapes import statistics as shapes

CPU = KernelTable("CPU")

NOT_EXPONENTIATED = frozenset(d for d in BY_NAME.values() if d.category < FLOATING) | FLOAT8
ACCUMULATED_IN = {"e": np.float64, "E": np.float64, "f": np.float64, "F": np.complex128}  # by NumPy's character


def register_scan(name: str, ufunc: np.ufunc) -> None:
    """Register one operator and its forms."""

    def scan(keys: int, self: Tensor, dim: int, dtype: dtype | None, out: Tensor | None = None) -> Tensor:
        computed = out.dtype if out is not None else shapes.cumulative(self, dim, dtype).dtype
        check_implemented(f"{name}_out_cpu", computed, FLOAT8)
        array: Any = self.array()
        if array.dtype != computed.numpy:
            array = quietly(array.astype, computed.numpy)
        if not array.ndim:
            return finish(array.copy(), computed, out)
        wide = ACCUMULATED_IN.get(computed.numpy.char, computed.numpy)
        if computed.name == "bfloat16":
            array = array.astype(np.float32)
        return finish(quietly(ufunc.accumulate, array, wrap_dim(dim, array.ndim), wide), computed, out)

    structured(CPU, name, scan)


def register_running_extremum(name: str, ufunc: np.ufunc) -> None:
    """Register cummax or cummin: values, and where they stand. Of equal elements the last counts; NaN stays."""
    shape = shape_function(name)

    def running(keys: int, self: Tensor, dim: int, out: tuple[Tensor, Tensor] | None = None) -> tuple[Any, ...]:
        shape(self, dim)
        array: Any = self.array()
        values, places = array, np.zeros(array.shape, np.int64)
        if array.ndim and array.size:
            check_implemented(f"{name}_cpu", self.dtype, UNORDERED)
            axis = wrap_dim(dim, array.ndim)
            wide = widened(array, self.dtype)
            found = ufunc.accumulate(wide, axis)
            counts = np.arange(array.shape[axis]).reshape(-1, *(1,) * (array.ndim - 1 - axis))
            places = np.maximum.accumulate(np.where((wide == found) | (wide != wide), counts, 0), axis)
            values = np.take_along_axis(array, places, axis)
        given = out if out is not None else (None, None)
        return named_result(name, (finish(values.copy(), self.dtype, given[0]), finish(places, int64, given[1])))

    structured(CPU, name, running)


def logcumsumexp(keys: int, self: Tensor, dim: int, out: Tensor | None = None) -> Tensor:
    """The logarithm of the sum of exponentials so far, without overflow on the way."""
    shapes.logcumsumexp(self, dim)
    check_implemented("logcumsumexp_out_cpu", self.dtype, NOT_EXPONENTIATED)
    array: Any = widened(self.array(), self.dtype)
    if not array.ndim:
        return finish(array.copy(), self.dtype, out)
    array = array.astype(np.complex128 if self.dtype.is_complex else np.float64, copy=False)
    accumulate = _complex_logcumsumexp if self.dtype.is_complex else np.logaddexp.accumulate
    return finish(quietly(accumulate, array, wrap_dim(dim, array.ndim)), self.dtype, out)


def _complex_logcumsumexp(array: Array, axis: int) -> Array:
    """One slice after another is added to the sum of those before it."""
    result = np.empty_like(array)
    steps, sums = np.moveaxis(array, axis, 0), np.moveaxis(result, axis, 0)
    total = np.full(steps.shape[1:], -np.inf, array.dtype)
    for step, place in zip(steps, sums, strict=True):
        total = log_add_exp(step, total)
        place[...] = total
    return result


def log_add_exp(x: Array, y: Array) -> Array:
    """`log(exp(x) + exp(y))` of complex numbers; NaN in either part makes both parts NaN."""
    less = x.real < y.real
    low, high = np.where(less, x, y), np.where(less, y, x)
    endless = ~np.isfinite(low.real) & (low.real == high.real)
    both_endless = np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(high)))
    result = np.where(endless, both_endless, np.log1p(np.exp(low - high)) + high)
    return np.where(np.isnan(x) | np.isnan(y), array_of_nan(x), result)


def array_of_nan(like: Array) -> Any:
    """The complex number whose parts are both NaN, in the dtype of an array."""
    return like.dtype.type(complex(np.nan, np.nan))


register_scan("cumsum", np.add)
register_scan("cumprod", np.multiply)
register_running_extremum("cummax", np.maximum)
register_running_extremum("cummin", np.minimum)
structured(CPU, "logcumsumexp", logcumsumexp)
