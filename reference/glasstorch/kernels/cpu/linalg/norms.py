"""How are norms, renormalization, cross products and traces computed on the CPU?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (linalg_vector_norm_out), aten/src/ATen/native/cpu/ReduceOpsKernel.cpp
    (norm_kernel), aten/src/ATen/native/cpu/CrossKernel.cpp, aten/src/ATen/native/Normalization.cpp (renorm_out),
    aten/src/ATen/native/ReduceOps.cpp (trace_cpu)
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
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.blocks import reduce_in_pieces
from glasstorch.kernels.cpu.reductions.sums import add_reduction, finish, widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import norms as shapes
from glasstorch.operators.shapes.reductions.sums import reduced_dims

CPU = KernelTable("CPU")
# Norms that determine a scale factor are computed in PyTorch's wider accumulation types.
RENORMED_IN: dict[Any, Any] = {
    float32: np.float64,
    float16: np.float32,
    bfloat16: np.float32,
    complex64: np.complex128,
}
largest: Callable[..., Any] = np.maximum.reduce
smallest: Callable[..., Any] = np.minimum.reduce
NO_ROOT = (0, 1, math.inf, -math.inf)  # orders whose sum or extremum is the norm
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
    """`sum(abs(x) ** ord) ** (1 / ord)`; for order 0 the number of nonzero elements."""
    result = shapes.vector_norm(self, ord, dim, keepdim, dtype)
    array: Array = self.array()
    dims, order = reduced_dims(dim, array.ndim), float(ord.real)
    if order and all(array.shape[d] == 1 for d in dims):
        order = 1.0  # the norm of one element is its absolute value, without rounded powers
    return finish(quietly(norm, array, (dtype or self.dtype).numpy, order, dims, keepdim), result.dtype, out)


def norm(array: Array, dtype: np.dtype[Any], order: float, dims: Shape, keepdim: bool) -> Any:
    """The norm over dimensions, computed piece by piece in `dtype`, or in float32 for half precision."""
    wide = np.dtype(np.float32) if dtype.itemsize == 2 else dtype
    if order == 2 and wide.kind == "f" and array.dtype == wide:  # a square needs no absolute value
        return np.sqrt(squares(array, dims, keepdim))
    reduce, join = REDUCED.get(order) or (powers(order), add_reduction)

    def piece(part: Array, dims: Shape) -> Array:
        sizes = np.absolute(part.astype(wide, copy=False))
        return np.asarray(reduce(sizes, dims, keepdims=True))

    def joined(parts: Array, dims: Shape) -> Array:
        return np.asarray(join(parts, dims, keepdims=True))

    total = reduce_in_pieces.run(piece, joined, array, dims, keepdim)
    if order in NO_ROOT:
        return total
    return np.sqrt(total) if order == 2 else np.power(total, 1 / total.dtype.type(order))


def powers(order: float) -> Callable[..., Any]:
    """A function that sums powers of non-negative real numbers."""
    return lambda sizes, dims, keepdims: add_reduction(
        np.power(sizes, sizes.dtype.type(order)), dims, keepdims=keepdims
    )


def renorm(keys: int, self: Tensor, p: Number, dim: int, maxnorm: Number, out: Tensor | None = None) -> Tensor:
    """Each slice along a dimension, scaled down so that its norm is at most `maxnorm`."""
    shapes.renorm(self, p, dim, maxnorm)
    array: Array = self.array()
    axis = wrap_dim(dim, array.ndim)
    shapes.vector_norm(self, p, [d for d in range(array.ndim) if d != axis], True, None)  # which it refuses too
    others = tuple(d for d in range(array.ndim) if d != axis)
    wide = np.dtype(RENORMED_IN.get(self.dtype, self.dtype.numpy))
    found = quietly(norm, array, wide, float(p.real), others, True)
    factor = np.where(found > maxnorm, quietly(np.true_divide, maxnorm, found + 1e-7), 1).astype(found.dtype)
    return finish(quietly(np.multiply, array, factor.astype(array.dtype)), self.dtype, out)


def squares(array: Array, dims: Shape, keepdims: bool) -> Array:
    """The sum of squares over dimensions, without an array of the squares."""
    every = list(range(array.ndim))
    kept = [d for d in every if d not in dims]
    total: Array = np.asarray(np.einsum(array, every, array, every, kept))
    return total.reshape([1 if d in dims else array.shape[d] for d in every]) if keepdims else total


# order -> how absolute values of a piece are reduced, and how the results of pieces are combined
REDUCED: dict[float, tuple[Callable[..., Any], Callable[..., Any]]] = {
    math.inf: (largest, largest),
    -math.inf: (smallest, smallest),
    0: (np.count_nonzero, add_reduction),
    1: (add_reduction, add_reduction),
    2: (squares, add_reduction),
}


def cross(keys: int, self: Tensor, other: Tensor, dim: int, out: Tensor | None = None) -> Tensor:
    """The cross product along a dimension of size 3."""
    result = shapes.cross(self, other, dim)
    check_implemented("cross", self.dtype, NOT_MULTIPLIED)
    x, y = (np.broadcast_to(widened(tensor.array()), result.shape) for tensor in (self, other))
    x, y = (np.moveaxis(array, wrap_dim(dim, array.ndim), 0) for array in (x, y))
    product = [quietly(minor, x, y, i) for i in range(3)]
    return finish(np.stack(product, wrap_dim(dim, x.ndim)), result.dtype, out)


def minor(x: Array, y: Array, i: int) -> Array:
    """Coordinate i of the cross product."""
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
