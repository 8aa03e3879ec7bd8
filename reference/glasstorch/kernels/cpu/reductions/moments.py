"""How are products, variances, counts and hashes computed on the CPU?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (prod, std_var_out, std_var_mean_out, count_nonzero_cpu, hash_tensor_out),
    cpu/ReduceOpsKernel.cpp (prod_kernel_impl, xor_sum_kernel_impl, std_var_kernel_impl with SharedReduceOps.h's
    WelfordOps)
Differs: PyTorch applies Welford's formula element by element. Here the mean is computed first, in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, STORED_ONLY, Number, check_implemented, dtype, int64, uint64
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions.sums import ACCUMULATED_IN, add_reduction
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, finish, finish_pair, shape_function, structured
from glasstorch.operators.shapes.reductions import moments as shapes
from glasstorch.operators.shapes.reductions.sums import Dims, reduced_dims

CPU = KernelTable("CPU")
NOT_HASHED = COMPLEX_DTYPES | STORED_ONLY
xor_reduction: Callable[..., Any] = np.bitwise_xor.reduce

# Products -------------------------------------------------------------------------------------------------------


def prod(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:
    """The product of all elements, which has no out= form."""
    return prod_dim(keys, self, None, False, dtype)


@structured(CPU, "prod.dim_int")
def prod_dim(keys: int, self: Tensor, dim: int | None, keepdim: bool, dtype: dtype | None, out: Out = None) -> Tensor:
    """The product over one dimension, or of all elements."""
    axis = None if dim is None else wrap_dim(dim, self.dim())
    computed = out.dtype if out is not None else shapes.prod(self, dtype).dtype
    check_implemented("prod_out_cpu", computed, FLOAT8)
    array = self.array()
    if array.dtype != computed.numpy:
        array = quietly(array.astype, computed.numpy)
    return finish(quietly(multiplied.run, widened(array), axis, keepdim), computed, out)


@slot
def multiplied(array: Array, axis: int | None, keepdim: bool) -> Any:
    """The product along an axis, or of all elements, in a wider dtype: ACCUMULATED_IN."""
    return array.prod(axis, ACCUMULATED_IN.get(array.dtype.char, array.dtype), keepdims=keepdim)


# Variances ------------------------------------------------------------------------------------------------------


def register_variance(name: str, root: bool) -> None:
    """Register var or std, its square root, and the operator that also returns the mean."""
    shape, shapes_with_mean = shape_function(f"{name}.correction"), shape_function(f"{name}_mean.correction")

    def moments(operator: str, self: Tensor, dim: Dims, correction: Number | None, shape: Shape) -> tuple[Array, Array]:
        array = self.array()
        dims = reduced_dims(dim, array.ndim)
        count = math.prod(array.shape[d] for d in dims)
        found, mean = quietly(variance.run, array, dims, shapes.divisor(operator, count, shape, correction))
        return (quietly(np.sqrt, found) if root else found).reshape(shape), mean.reshape(shape)

    @structured(CPU, f"{name}.correction")
    def alone(keys: int, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool, out: Out = None) -> Tensor:
        result = shape(self, dim, correction, keepdim)
        if self.dtype in FLOAT8:
            raise DtypeError(f"std_var_all: Unsupported dtype {self.dtype.scalar_name}")
        return finish(moments(name, self, dim, correction, result.shape)[0], result.dtype, out)

    @structured(CPU, f"{name}_mean.correction")
    def with_mean(
        keys: int, self: Tensor, dim: Dims, correction: Number | None, keepdim: bool, out: Outs = None
    ) -> tuple[Any, ...]:
        result, mean = shapes_with_mean(self, dim, correction, keepdim)
        check_implemented("std_cpu", self.dtype, FLOAT8)
        found = moments(f"{name}_mean", self, dim, correction, result.shape)
        return finish_pair(f"{name}_mean.correction", *found, result.dtype, out, mean.dtype)


@slot
def variance(array: Array, dims: Shape, divisor: float) -> tuple[Array, Array]:
    """The variance over dimensions, and the mean, in float64, one of each for a row of `as_rows`."""
    rows = as_rows(array, dims)
    wide = rows.astype(np.complex128 if rows.dtype.kind == "c" else np.float64)
    mean = np.true_divide(add_reduction(wide, 1), rows.shape[1])
    away = wide - mean[:, None]
    squares = sum(add_reduction(part * part, 1) for part in parts(away))
    for one, row in zip(parts(mean), parts(rows), strict=True):
        # Welford's formula subtracts an infinite mean from the next element
        one[np.isinf(one) & np.isinf(row[:, :-1]).any(1)] = np.nan
    return np.true_divide(squares, divisor), mean


def as_rows(array: Array, dims: Shape) -> Array:
    """The elements over which each result is taken, as rows; a full reduction needs no copy."""
    kept = [d for d in range(array.ndim) if d not in dims]
    in_memory = sorted(dims, key=lambda d: -abs(array.strides[d]))
    count = math.prod(array.shape[d] for d in dims)
    return array.transpose(*kept, *in_memory).reshape(math.prod(array.shape[d] for d in kept), count)


def parts(array: Array) -> tuple[Array, ...]:
    """A real array, or the two parts of a complex one."""
    return (array.real, array.imag) if array.dtype.kind == "c" else (array,)


# Counts and hashes ----------------------------------------------------------------------------------------------


@structured(CPU, "count_nonzero.dim_IntList")
def count_nonzero(keys: int, self: Tensor, dim: Sequence[int]) -> Tensor:
    """The number of nonzero elements; NaN is nonzero."""
    if not dim:  # along dimensions PyTorch compares with 0 and adds
        check_implemented("nonzero_count_cpu", self.dtype, STORED_ONLY)
    array = self.array()
    return finish(np.count_nonzero(array, axis=reduced_dims(dim, array.ndim)), int64, None)


@structured(CPU, "hash_tensor")
def hash_tensor(keys: int, self: Tensor, dim: Sequence[int], keepdim: bool, mode: int, out: Out = None) -> Tensor:
    """The exclusive or of the elements' bits: integers widened to 64 bits, floating point numbers to float64."""
    result = shapes.hash_tensor(self, dim, keepdim, mode)
    array = self.array()
    if 0 not in result.shape:
        check_implemented("xor_sum_cpu", self.dtype, NOT_HASHED)
    wide = np.float64 if self.dtype.is_floating_point else np.int64
    return finish(quietly(exclusive_or.run, array, wide, reduced_dims(dim, array.ndim), keepdim), uint64, out)


@slot
def exclusive_or(array: Array, wide: Any, dims: Shape, keepdim: bool) -> Any:
    """The exclusive or over dimensions of the bits of an array converted to a dtype of 64 bits."""
    return xor_reduction(array.astype(wide, order="C").view(np.uint64), dims, keepdims=keepdim)


CPU.add("prod", prod)
register_variance("var", root=False)
register_variance("std", root=True)
