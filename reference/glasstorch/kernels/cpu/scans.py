"""How are cumulative sums, products and extrema computed on the CPU?

float32 is accumulated in float64 and half precision in float32, and rounded once, as in PyTorch.

Mirrors: aten/src/ATen/native/ReduceOps.cpp (cumsum, cumprod, cummax_cummin_helper), cpu/ReduceOpsKernel.cpp
    (cumsum_cpu_kernel, cumprod_cpu_kernel, logcumsumexp_cpu_kernel), cpu/LogAddExp.h
Differs: NumPy's `accumulate` scans the lines.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import BY_NAME, FLOAT8, FLOATING, STORED_ONLY, bool_, check_implemented, dtype
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions.sums import ACCUMULATED_IN, UNORDERED
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, finish, finish_pair, shape_function, structured
from glasstorch.operators.shapes import scans as shapes

CPU = KernelTable("CPU")

NOT_EXPONENTIATED = frozenset(d for d in BY_NAME.values() if d.category < FLOATING) | FLOAT8
NOT_ADDED_UP = STORED_ONLY | {bool_}


@slot
def accumulated(ufunc: np.ufunc, array: Array, axis: int, wide: Any) -> Array:
    """A cumulative sum or product along an axis, accumulated in a wider dtype and rounded once."""
    return ufunc.accumulate(array.astype(wide), axis).astype(array.dtype)


def register_scan(name: str, ufunc: np.ufunc) -> None:
    """Register one operator and its forms."""

    @structured(CPU, name)
    def scan(keys: int, self: Tensor, dim: int, dtype: dtype | None, out: Out = None) -> Tensor:
        computed = out.dtype if out is not None else shapes.cumulative(self, dim, dtype).dtype
        array = self.array()
        if array.dtype != computed.numpy:
            array = quietly(array.astype, computed.numpy)
        if not array.ndim or not array.size:
            return finish(array.copy(), computed, out)
        check_implemented(f"{name}_out_cpu", computed, NOT_ADDED_UP)
        wide = ACCUMULATED_IN.get(computed.numpy.char, computed.numpy)
        return finish(quietly(accumulated.run, ufunc, array, wrap_dim(dim, array.ndim), wide), computed, out)


@slot
def running_extremum(ufunc: np.ufunc, array: Array, axis: int) -> tuple[Array, Array]:
    """For each element along an axis, the extremum up to there and its index.

    An element that equals the extremum up to there sets a new record, and so does NaN: of equal elements the last
    counts. The index is that of the latest record.
    """
    lines = widened(array)
    record = (lines == ufunc.accumulate(lines, axis)) | (lines != lines)
    indices = np.maximum.accumulate(np.where(record, np.indices(array.shape, sparse=True)[axis], 0), axis)
    return np.take_along_axis(array, indices, axis), indices


def register_running_extremum(name: str, ufunc: np.ufunc) -> None:
    """Register cummax or cummin: values and indices. Of equal elements the last counts; NaN propagates."""
    shape = shape_function(name)

    @structured(CPU, name)
    def running(keys: int, self: Tensor, dim: int, out: Outs = None) -> tuple[Any, ...]:
        shape(self, dim)
        array: Any = self.array()
        if array.ndim and array.size:
            check_implemented(f"{name}_cpu", self.dtype, UNORDERED)
            values, indices = quietly(running_extremum.run, ufunc, array, wrap_dim(dim, array.ndim))
        else:
            values, indices = array.copy(), np.zeros(array.shape, np.int64)
        return finish_pair(name, values, indices, self.dtype, out)


@structured(CPU, "logcumsumexp")
def logcumsumexp(keys: int, self: Tensor, dim: int, out: Out = None) -> Tensor:
    """The logarithm of the sum of exponentials so far, without overflow on the way."""
    shapes.logcumsumexp(self, dim)
    check_implemented("logcumsumexp_out_cpu", self.dtype, NOT_EXPONENTIATED)
    array: Any = self.array()
    if not array.ndim or not array.size:
        return finish(array.copy(), self.dtype, out)
    axis = wrap_dim(dim, array.ndim)
    if self.dtype.is_complex:
        sums = quietly(complex_sums.run, np.moveaxis(array.astype(np.complex128), axis, 0))
        return finish(np.moveaxis(sums, 0, axis), self.dtype, out)
    return finish(quietly(accumulated.run, np.logaddexp, array, axis, np.float64), self.dtype, out)


@slot
def complex_sums(steps: Array) -> Array:
    """The logarithms of cumulative sums of exponentials along the first dimension, one slice after another."""
    nothing = np.full_like(steps[0], -np.inf)
    return np.stack(list(accumulate(steps, lambda total, step: log_add_exp(step, total), initial=nothing))[1:])


def log_add_exp(x: Array, y: Array) -> Array:
    """`log(exp(x) + exp(y))` of complex numbers; NaN in either part makes both parts NaN."""
    less = x.real < y.real
    low, high = np.where(less, x, y), np.where(less, y, x)
    endless = ~np.isfinite(low.real) & (low.real == high.real)
    both_endless = np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(high)))
    result = np.where(endless, both_endless, np.log1p(np.exp(low - high)) + high)
    return np.where(np.isnan(x) | np.isnan(y), x.dtype.type(complex(np.nan, np.nan)), result)


register_scan("cumsum", np.add)
register_scan("cumprod", np.multiply)
register_running_extremum("cummax", np.maximum)
register_running_extremum("cummin", np.minimum)
