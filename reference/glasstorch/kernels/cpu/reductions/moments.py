"""How are products, variances, counts and hashes computed on the CPU?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (prod, std_var_out, std_var_mean_out, count_nonzero_cpu, hash_tensor_out),
    cpu/ReduceOpsKernel.cpp (prod_kernel_impl, xor_sum_kernel_impl, std_var_kernel_impl with SharedReduceOps.h's
    WelfordOps)
Differs: PyTorch applies Welford's formula element by element. See Note [Moments in blocks].

# Note [Moments in blocks]
A variance is computed in float64, in blocks that fit into the processor's cache: first the block's mean, then the sum
of squared deviations from it. The sums of two blocks are combined by adding the weighted squared difference of their
means (Chan, Golub and LeVeque, 1983). No temporary of the input's size is allocated.
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
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.blocks import reduce_in_pieces
from glasstorch.kernels.cpu.reductions.sums import add_reduction, finish, widened
from glasstorch.kernels.iterator import WIDE_BLOCK
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import shape_function, structured
from glasstorch.operators.shapes.reductions import moments as shapes
from glasstorch.operators.shapes.reductions.sums import reduced_dims

CPU = KernelTable("CPU")
NOT_HASHED = COMPLEX_DTYPES | STORED_ONLY
LANES = 1 << 10  # rows, or partial products, that one NumPy call advances together
PRODUCT_BLOCK = 1 << 17  # elements of a block in which rows are multiplied pairwise
SEQUENTIAL_UP_TO = 16  # elements of a row up to which they are multiplied one after another
multiply_reduction: Callable[..., Any] = np.multiply.reduce
xor_reduction: Callable[..., Any] = np.bitwise_xor.reduce

# Products -------------------------------------------------------------------------------------------------------


def prod(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:
    """The product of all elements, which has no out= form."""
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
    array = widened(array)
    axis = dim if array.ndim else None
    if array.flags.c_contiguous and array.size > WIDE_BLOCK and axis in (None, array.ndim - 1):
        rows = array.reshape(-1, array.shape[-1] if axis is not None else array.size)
        shape = () if axis is None else array.shape[:-1] + (1,) * keepdim
        return finish(quietly(multiply_rows, rows).reshape(shape), computed, out)
    return finish(quietly(multiply_reduction, array, axis, array.dtype, None, keepdim), computed, out)


def multiply_rows(rows: Array) -> Array:
    """The product of each row, pairwise in blocks: its two halves are multiplied, so that no step waits for another."""
    height = max(1, PRODUCT_BLOCK // max(rows.shape[1], 1))
    result = np.empty(len(rows), rows.dtype)
    for top in range(0, len(rows), height):
        block = rows[top : top + height]
        if len(block) == 1 and block.size > WIDE_BLOCK:
            whole = block.size // LANES * LANES
            columns = multiply_reduction(block[0, :whole].reshape(-1, LANES), 0)
            block = np.concatenate([columns, block[0, whole:]])[None]
        while (width := block.shape[1]) > SEQUENTIAL_UP_TO:
            half = width // 2
            product = block[:, :half] * block[:, half : 2 * half]
            if width % 2:
                product[:, 0] *= block[:, -1]
            block = product
        result[top : top + height] = multiply_reduction(block, 1)
    return result


# Variances ------------------------------------------------------------------------------------------------------


def register_variance(name: str, root: bool) -> None:
    """Register var or std, its square root, and the operator that also returns the mean."""
    shape, shapes_with_mean = shape_function(f"{name}.correction"), shape_function(f"{name}_mean.correction")

    def variance(
        keys: int,
        self: Tensor,
        dim: Sequence[int] | None,
        correction: Number | None,
        keepdim: bool,
        out: Tensor | None = None,
    ) -> Tensor:
        result = shape(self, dim, correction, keepdim)
        if self.dtype in FLOAT8:
            raise DtypeError(f"std_var_all: Unsupported dtype {self.dtype.scalar_name}")
        found, _ = _moments(name, root, self, dim, correction, keepdim, result.shape)
        return finish(found, result.dtype, out)

    def variance_and_mean(
        keys: int, self: Tensor, dim: Sequence[int] | None, correction: Number | None, keepdim: bool, out: Any = None
    ) -> tuple[Tensor, ...]:
        results = shapes_with_mean(self, dim, correction, keepdim)
        check_implemented("std_cpu", self.dtype, FLOAT8)
        found = _moments(f"{name}_mean", root, self, dim, correction, keepdim, results[0].shape)
        given = out if out is not None else (None, None)
        return tuple(finish(f, r.dtype, to) for f, r, to in zip(found, results, given, strict=True))

    structured(CPU, f"{name}.correction", variance)
    structured(CPU, f"{name}_mean.correction", variance_and_mean)


def _moments(
    name: str,
    root: bool,
    self: Tensor,
    dim: Sequence[int] | None,
    correction: Number | None,
    keepdim: bool,
    shape: Shape,
) -> tuple[Any, Any]:
    """The variance, or its square root, and the mean; in float64. An error names the operator."""
    array = self.array()
    dims = reduced_dims(dim, array.ndim)
    count = math.prod(array.shape[d] for d in dims)
    shapes.check_degrees_of_freedom(name, count, shape, correction)
    divisor = max(count - shapes.correction_of(correction), 0)
    if 0 < array.size <= WIDE_BLOCK and array.dtype.kind != "c":
        few = quietly(variance_of_few, array, dims, count, divisor)
        if few is not None:
            found, mean = few
            return (quietly(np.sqrt, found) if root else found).reshape(shape), mean.reshape(shape)
    kept = [d for d in range(array.ndim) if d not in dims]
    in_memory = sorted(dims, key=lambda d: -abs(array.strides[d]))  # a full reduction then needs no copy
    rows = array.transpose(*kept, *in_memory).reshape(math.prod(shape), count)
    squares, mean = quietly(square_distances, rows)
    found = quietly(np.true_divide, squares, divisor)
    return (quietly(np.sqrt, found) if root else found).reshape(shape), mean.reshape(shape)


def variance_of_few(array: Array, dims: Shape, count: int, divisor: float) -> tuple[Array, Array] | None:
    """The variance and mean of real numbers that fit into one block, with keepdim; None where a sum is not finite."""
    wide = array.astype(np.float64)
    mean = np.true_divide(add_reduction(wide, dims, keepdims=True), count)
    if not np.isfinite(mean).all():
        return None
    wide -= mean
    np.multiply(wide, wide, wide)
    return np.true_divide(add_reduction(wide, dims, keepdims=True), divisor), mean


def square_distances(rows: Array) -> tuple[Array, Array]:
    """For each row the sum of squared deviations from its mean, and the mean; see Note [Moments in blocks]."""
    height, width = rows.shape
    wide = np.complex128 if rows.dtype.kind == "c" else np.float64
    columns = rows.strides[0] < rows.strides[1]  # strided rows: take many rows, and few elements of each
    step = min(height, LANES) if columns else max(1, WIDE_BLOCK // max(width, 1))
    length = max(1, WIDE_BLOCK // max(step, 1))
    squares, totals = np.zeros(height), np.zeros(height, wide)
    for top in range(0, height, step):
        part = slice(top, top + step)
        center: Any = 0
        for start in range(0, width, length):
            block: Array = rows[part, start : start + length].astype(wide)  # with the memory order of the rows
            count = block.shape[1]
            total = add_reduction(block, 1)
            totals[part] += total
            middle = total / count
            block -= middle[:, None]
            squares[part] += sum(np.einsum("ij,ij->i", x, x) for x in parts(block))
            if start:  # the sum so far is relative to another mean
                away = middle - center
                squares[part] += (away * np.conj(away)).real * (count * start / (start + count))
                center = center + away * (count / (start + count))
            else:
                center = middle
    for total, x in zip(parts(totals), parts(rows), strict=True):
        endless = np.flatnonzero(np.isinf(total))
        total[endless[np.isinf(x[endless, :-1]).any(1)]] = (
            np.nan
        )  # Welford's formula subtracts it from the next element
    return squares, np.true_divide(totals, width)


def parts(array: Array) -> tuple[Array, ...]:
    """A real array, or the two parts of a complex one."""
    return (array.real, array.imag) if array.dtype.kind == "c" else (array,)


# Counts ---------------------------------------------------------------------------------------------------------


def count_nonzero(keys: int, self: Tensor, dim: Sequence[int]) -> Tensor:
    """The number of nonzero elements; NaN is nonzero."""
    if not dim:  # along dimensions PyTorch compares with 0 and adds
        check_implemented("nonzero_count_cpu", self.dtype, STORED_ONLY)
    array = self.array()
    return finish(np.count_nonzero(array, axis=reduced_dims(dim, array.ndim)), int64, None)


# Hashes ---------------------------------------------------------------------------------------------------------


def hash_tensor(
    keys: int, self: Tensor, dim: Sequence[int], keepdim: bool, mode: int, out: Tensor | None = None
) -> Tensor:
    """The exclusive or of the elements' bits: integers widened to 64 bits, floating point numbers to float64."""
    result = shapes.hash_tensor(self, dim, keepdim, mode)
    array = self.array()
    if 0 not in result.shape:
        check_implemented("xor_sum_cpu", self.dtype, NOT_HASHED)
    wide = np.float64 if self.dtype.is_floating_point else np.int64

    def piece(part: Array, dims: Shape) -> Array:
        return joined(quietly(part.astype, wide, order="C").view(np.uint64), dims)

    return finish(reduce_in_pieces.run(piece, joined, array, reduced_dims(dim, array.ndim), keepdim), uint64, out)


def joined(bits: Array, dims: Shape) -> Array:
    """The exclusive or over dimensions, with keepdim."""
    return np.asarray(xor_reduction(bits, dims, keepdims=True))


CPU.add("prod", prod)
structured(CPU, "prod.dim_int", prod_dim)
register_variance("var", root=False)
register_variance("std", root=True)
structured(CPU, "count_nonzero.dim_IntList", count_nonzero)
structured(CPU, "hash_tensor", hash_tensor)
