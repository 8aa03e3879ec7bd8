"""How are norms, tensors of limited norm, cross products and traces computed on the CPU?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (linalg_vector_norm_out), aten/src/ATen/native/cpu/ReduceOpsKernel.cpp
    (norm_kernel), aten/src/ATen/native/cpu/CrossKernel.cpp, aten/src/ATen/native/Normalization.cpp (renorm_out),
    aten/src/ATen/native/ReduceOps.cpp (trace_cpu)
Differs: nothing in substance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import (
    STORED_ONLY,
    Number,
    bfloat16,
    bool_,
    check_implemented,
    complex64,
    dtype,
    float16,
    float32,
)
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions import add_reduction, finish, widened
from glasstorch.kernels.iterator import WIDE_BLOCK
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import linalg as shapes
from glasstorch.operators.shapes import statistics
from glasstorch.operators.shapes.reductions import reduced_dims

CPU = KernelTable("CPU")
# Norms that decide about a factor are computed wider, as PyTorch's accumulation types are.
RENORMED_IN: dict[Any, Any] = {
    float32: np.float64,
    float16: np.float32,
    bfloat16: np.float32,
    complex64: np.complex128,
}
largest: Callable[..., Any] = np.maximum.reduce
smallest: Callable[..., Any] = np.minimum.reduce
NOT_MULTIPLIED = STORED_ONLY | {bool_}


def vector_norm(
    keys: int,
    self: Tensor,
    ord: Number,
    dim: Sequence[int] | None,
    keepdim: bool,
    dtype: dtype | None,
    out: Tensor | None = None,
) -> Tensor:
    """`sum(abs(x) ** ord) ** (1 / ord)`; of order 0 the number of elements that are not 0."""
    result = shapes.vector_norm(self, ord, dim, keepdim, dtype)
    array: Array = self.array()
    if dtype is not None:
        array = array.astype(dtype.numpy)
    dims, sizes = reduced_dims(dim, array.ndim), widened(array)
    order = float(ord.real)
    if order and all(array.shape[d] == 1 for d in dims):
        order = 1.0  # one element has its size for a norm, whatever its powers are rounded to
    if order != 2 or sizes.dtype.kind == "c":  # a square needs no sign taken away
        sizes = quietly(np.absolute, sizes)
    return finish(quietly(norm, sizes, order, dims, keepdim), result.dtype, out)


def norm(sizes: Array, order: float, dims: tuple[int, ...], keepdim: bool) -> Any:
    """The norm of real numbers that are not negative; of order 2, of any real numbers."""
    if order == np.inf:
        return largest(sizes, dims, keepdims=keepdim)
    if order == -np.inf:
        return smallest(sizes, dims, keepdims=keepdim)
    if order == 0:
        return np.count_nonzero(sizes, dims, keepdims=keepdim)
    if order == 1:
        return add_reduction(sizes, dims, keepdims=keepdim)
    if order == 2:
        return np.sqrt(squares(sizes, dims, keepdim))
    exponent = sizes.dtype.type(order)
    return np.power(add_reduction(np.power(sizes, exponent), dims, keepdims=keepdim), 1 / exponent)


def renorm(keys: int, self: Tensor, p: Number, dim: int, maxnorm: Number, out: Tensor | None = None) -> Tensor:
    """Each part along a dimension divided so that its norm is no more than the largest one allowed."""
    statistics.renorm(self, p, dim, maxnorm)
    array: Array = self.array()
    axis = wrap_dim(dim, array.ndim)
    shapes.vector_norm(self, p, [d for d in range(array.ndim) if d != axis], True, None)  # which it refuses too
    found = quietly(
        wide_norms, np.moveaxis(array, axis, 0), float(p.real), RENORMED_IN.get(self.dtype, self.dtype.numpy)
    )
    factor = np.where(found > maxnorm, quietly(np.true_divide, maxnorm, found + 1e-7), 1).astype(found.dtype)
    shape = [-1 if d == axis else 1 for d in range(array.ndim)]
    return finish(quietly(np.multiply, array, factor.astype(array.dtype).reshape(shape)), self.dtype, out)


def wide_norms(parts: Array, order: float, wide: Any) -> Array:
    """The norm of each part along the first dimension, in a wider dtype and so many parts at a time."""
    rows = parts.reshape(len(parts), math.prod(parts.shape[1:]))
    height = max(1, WIDE_BLOCK // max(rows.shape[1], 1))
    blocks = (rows[top : top + height] for top in range(0, len(rows), height))
    found = [norm(np.absolute(block.astype(wide)), order, (1,), False) for block in blocks]
    return np.concatenate(found) if found else np.empty(0, wide)


def squares(array: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    """The sum of squares over dimensions, which are nowhere written down."""
    every = list(range(array.ndim))
    kept = [d for d in every if d not in dims]
    total: Array = np.asarray(np.einsum(array, every, array, every, kept))
    return total.reshape([1 if d in dims else array.shape[d] for d in every]) if keepdim else total


def cross(keys: int, self: Tensor, other: Tensor, dim: int, out: Tensor | None = None) -> Tensor:
    """The vector product in the three dimensions of one dimension."""
    result = shapes.cross(self, other, dim)
    check_implemented("cross", self.dtype, NOT_MULTIPLIED)
    x, y = (np.broadcast_to(widened(tensor.array()), result.shape) for tensor in (self, other))
    x, y = (np.moveaxis(array, wrap_dim(dim, array.ndim), 0) for array in (x, y))
    product = [quietly(minor, x, y, i) for i in range(3)]
    return finish(np.stack(product, wrap_dim(dim, x.ndim)), result.dtype, out)


def minor(x: Array, y: Array, i: int) -> Array:
    """Coordinate i of the vector product."""
    j, k = (i + 1) % 3, (i + 2) % 3
    difference: Array = x[j] * y[k] - x[k] * y[j]
    return difference


def trace(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
    """The sum of the diagonal."""
    result = shapes.trace(self)
    check_implemented("trace", self.dtype, NOT_MULTIPLIED)
    diagonal = np.diagonal(self.array()).astype(result.dtype.numpy)
    return finish(quietly(np.sum, widened(diagonal)), result.dtype, out)


structured(CPU, "linalg_vector_norm", vector_norm)
structured(CPU, "renorm", renorm)
structured(CPU, "linalg_cross", cross)
structured(CPU, "trace", trace)
