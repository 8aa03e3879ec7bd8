"""How are products, variances, counts and hashes computed on the CPU?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (prod, std_var_out, std_var_mean_out, count_nonzero_cpu, hash_tensor_out),
    cpu/ReduceOpsKernel.cpp (prod_kernel_impl, xor_sum_kernel_impl, std_var_kernel_impl with SharedReduceOps.h's
    WelfordOps)
Differs: a variance takes two passes in float64, the mean first, where Welford's formula takes one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, STORED_ONLY, Number, dtype, int64, uint64
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions import check_implemented, finish, widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import statistics as shapes
from glasstorch.operators.shapes.reductions import reduced_dims

CPU = KernelTable("CPU")
NOT_HASHED = COMPLEX_DTYPES | STORED_ONLY
multiply_reduction: Callable[..., Any] = np.multiply.reduce
xor_reduction: Callable[..., Any] = np.bitwise_xor.reduce

# Products -------------------------------------------------------------------------------------------------------


def prod(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:
    """The product of everything, which has no out= form."""
    return _product(self, None, False, dtype, None)


def prod_dim(
    keys: int, self: Tensor, dim: int, keepdim: bool, dtype: dtype | None, out: Tensor | None = None
) -> Tensor:
    """The product over one dimension."""
    return _product(self, wrap_dim(dim, self.dim()), keepdim, dtype, out)


def _product(self: Tensor, dim: int | None, keepdim: bool, dtype: dtype | None, out: Tensor | None) -> Tensor:
    computed = out.dtype if out is not None else shapes.prod(self, dtype).dtype
    check_implemented("prod_out_cpu", computed, FLOAT8)
    array = self.array()
    if array.dtype != computed.numpy:
        array = quietly(array.astype, computed.numpy)
    array = widened(array, computed)
    return finish(
        quietly(multiply_reduction, array, dim if array.ndim else None, array.dtype, None, keepdim), computed, out
    )


# Variances ------------------------------------------------------------------------------------------------------


def var(
    keys: int,
    self: Tensor,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
    out: Tensor | None = None,
) -> Tensor:
    """The mean squared distance from the mean."""
    return _variance("var", self, dim, correction, keepdim, out)


def std(
    keys: int,
    self: Tensor,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
    out: Tensor | None = None,
) -> Tensor:
    """The square root of the variance."""
    return _variance("std", self, dim, correction, keepdim, out)


def _variance(
    name: str, self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool, out: Tensor | None
) -> Tensor:
    result = shapes.VARIANCES[name](self, dim, correction, keepdim)
    if self.dtype in FLOAT8:
        raise DtypeError(f"std_var_all: Unsupported dtype {self.dtype.scalar_name}")
    found, _ = _moments(name, self, dim, correction, keepdim, result.shape)
    return finish(found, result.dtype if out is None else out.dtype, out)


def var_mean(
    keys: int, self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool, out: Any = None
) -> tuple[Tensor, ...]:
    """The variance and the mean."""
    return _variance_and_mean("var_mean", self, dim, correction, keepdim, out)


def std_mean(
    keys: int, self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool, out: Any = None
) -> tuple[Tensor, ...]:
    """The square root of the variance, and the mean."""
    return _variance_and_mean("std_mean", self, dim, correction, keepdim, out)


def _variance_and_mean(
    name: str, self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool, out: Any
) -> tuple[Tensor, ...]:
    results = getattr(shapes, name)(self, dim, correction, keepdim)
    check_implemented("std_cpu", self.dtype, FLOAT8)
    found = _moments(name, self, dim, correction, keepdim, results[0].shape)
    given = out if out is not None else (None, None)
    return tuple(finish(f, r.dtype, to) for f, r, to in zip(found, results, given, strict=True))


def _moments(
    name: str, self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool, shape: Shape
) -> tuple[Any, Any]:
    """The variance, or its square root for an operator so named, and the mean; in float64."""
    array = self.array()
    dims = reduced_dims(dim, array.ndim)
    wide = array.astype(np.complex128 if self.dtype.is_complex else np.float64)
    count = math.prod(array.shape[d] for d in dims)
    shapes.check_degrees_of_freedom(name, count, shape, correction)
    found, mean = quietly(_mean_square, wide, dims, keepdim, count, shapes.correction_of(correction))
    return quietly(np.sqrt, found) if name.startswith("std") else found, mean.reshape(shape)


def _mean_square(array: Array, dims: Shape, keepdim: bool, count: int, correction: float) -> tuple[Any, Any]:
    """The squared distances from the mean, added up and divided; and the mean."""
    mean = np.true_divide(array.sum(dims, keepdims=True), count)
    distance = array - mean
    squares = (distance * distance.conj()).real if array.dtype.kind == "c" else distance * distance
    return np.true_divide(squares.sum(dims, keepdims=keepdim), max(count - correction, 0)), mean


# Counts ---------------------------------------------------------------------------------------------------------


def count_nonzero(keys: int, self: Tensor, dim: Sequence[int]) -> Tensor:
    """How many elements are not 0; NaN is not."""
    if not dim:  # along dimensions PyTorch compares with 0 and adds
        check_implemented("nonzero_count_cpu", self.dtype, STORED_ONLY)
    array = self.array()
    return finish(np.count_nonzero(array, axis=reduced_dims(dim, array.ndim)), int64, None)


# Hashes ---------------------------------------------------------------------------------------------------------


def hash_tensor(
    keys: int, self: Tensor, dim: Sequence[int], keepdim: bool, mode: int, out: Tensor | None = None
) -> Tensor:
    """The exclusive or of the elements' bits: of integers as 64-bit ones, of floating point numbers as float64."""
    result = shapes.hash_tensor(self, dim, keepdim, mode)
    array = self.array()
    if 0 not in result.shape:
        check_implemented("xor_sum_cpu", self.dtype, NOT_HASHED)
    wide = quietly(array.astype, np.float64 if self.dtype.is_floating_point else np.int64, order="C")
    bits = wide.view(np.uint64)
    return finish(xor_reduction(bits, reduced_dims(dim, array.ndim), keepdims=keepdim), uint64, out)


CPU.add("prod", prod)
structured(CPU, "prod.dim_int", prod_dim)
structured(CPU, "var.correction", var)
structured(CPU, "std.correction", std)
structured(CPU, "var_mean.correction", var_mean)
structured(CPU, "std_mean.correction", std_mean)
structured(CPU, "count_nonzero.dim_IntList", count_nonzero)
structured(CPU, "hash_tensor", hash_tensor)
