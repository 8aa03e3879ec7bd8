"""How are matrices multiplied on the CPU?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (addmm_impl_cpu_, bmm), Blas.cpp (dot, addmv), cpu/BlasKernel.cpp
Differs: NumPy passes float32, float64 and complex operands to its BLAS, transposed ones without a copy. Narrower floats
    are computed in float32 and rounded once. See Note [Integer products].

# Note [Integer products]
There is no BLAS for integers, and NumPy's loops for them are slow. Where no partial sum can reach 2^53, float64
represents every partial sum exactly, so the fast product of float64 matrices is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import LARGE, empty_array
from glasstorch.core.dtype import (
    COMPLEX_DTYPES,
    FLOATING,
    HALF_PRECISION,
    NARROW_FLOATS,
    Number,
    dtype,
    float32,
    float64,
)
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions.sums import finish
from glasstorch.kernels.halves import as_dtype, as_single, cast
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import matmul as shapes
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

CPU = KernelTable("CPU")

IN_BLAS = frozenset((float32, float64)) | COMPLEX_DTYPES
EXACT_BELOW = 1 << 53  # float64 represents every integer up to here exactly
DIRECT_UP_TO = 1 << 13  # multiplications up to which two conversions do not pay


# On arrays ------------------------------------------------------------------------------------------------------


def product(left: Array, right: Array, shape: Shape, dtype: dtype, out: Array | None = None) -> Array:
    """The product of two matrices, or of two batches of them, in `out` or in a fresh row-major array."""
    if dtype in IN_BLAS:
        if out is None:
            nbytes = left.itemsize
            for size in shape:
                nbytes *= size
            out = empty_array(shape, dtype.numpy, nbytes)
        quietly(np.matmul, left, right, out)
        return out
    if dtype in NARROW_FLOATS:
        result = quietly(np.matmul, as_single.run(left), as_single.run(right))
    else:
        result = integer_product(left, right)
    return stored(result, dtype, out)


def affine(left: Array, right: Array, bias: Array) -> Array:
    """The product of two matrices, plus a bias that is broadcast to it."""
    result: Array = left.dot(right)
    np.add(result, bias, result)
    return result


def integer_product(left: Array, right: Array) -> Array:
    """A product that wraps around on overflow; see Note [Integer products]."""
    rows, inner, columns = left.shape[-2], left.shape[-1], right.shape[-1]
    if 0 in left.shape or rows * inner * columns <= DIRECT_UP_TO:
        return np.matmul(left, right)  # type: ignore[no-any-return]
    if inner * magnitude(left) * magnitude(right) < EXACT_BELOW:
        exact = np.matmul(left.astype(np.float64), right.astype(np.float64))
        return exact.astype(np.int64)  # type: ignore[no-any-return]
    return np.matmul(left, np.asfortranarray(right) if right.ndim == 2 else right)  # type: ignore[no-any-return]


def magnitude(array: Array) -> int:
    """The largest absolute value, 0 for an empty array."""
    return max(abs(int(array.max(initial=0))), abs(int(array.min(initial=0))))


def stored(result: Array, dtype: dtype, out: Array | None) -> Array:
    """A result computed in a wider dtype, rounded (or wrapped around) to its own."""
    if out is None:
        return quietly(as_dtype.run, result, dtype.numpy)
    quietly(cast.run, out, result)
    return out


def factor(number: Number, dtype: dtype) -> Any:
    """`beta` or `alpha` as a factor: truncated for integers, refused where the dtype cannot hold it."""
    value = number_as(number, dtype)
    return value if dtype.category >= FLOATING else np.asarray(value, dtype.numpy)


# Kernels --------------------------------------------------------------------------------------------------------


def mm(keys: int, self: Tensor, mat2: Tensor, out: Tensor | None = None) -> Tensor:  # hot path: benchmarks/operators.py
    """The product of two matrices. Plain operands go straight to BLAS; `matrices` is the plain twin."""
    dtype, left, right = self.dtype, self._shape, mat2._shape
    if (
        out is None
        and dtype in IN_BLAS
        and mat2.dtype is dtype
        and len(left) == 2 == len(right)
        and left[1] == right[0]
        and left[0] * right[1] * dtype.itemsize < LARGE
    ):
        return wrap(quietly(self.array().dot, mat2.array()), dtype)
    return matrices(keys, self, mat2, out)


def matrices(keys: int, self: Tensor, mat2: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of two matrices, everything checked."""
    return _multiplied(self, mat2, shapes.mm(self, mat2), out)


def bmm(keys: int, self: Tensor, mat2: Tensor, out: Tensor | None = None) -> Tensor:
    """The products of two batches of matrices."""
    return _multiplied(self, mat2, shapes.bmm(self, mat2), out)


def _multiplied(self: Tensor, mat2: Tensor, result: Result, out: Tensor | None) -> Tensor:
    made = product(self.array(), mat2.array(), result.shape, result.dtype, None if out is None else out.array())
    return wrap(made, result.dtype) if out is None else out


def mv(keys: int, self: Tensor, vec: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector."""
    return _dotted(self, vec, shapes.mv(self, vec).dtype, out)


def dot(keys: int, self: Tensor, tensor: Tensor, out: Tensor | None = None) -> Tensor:
    """The dot product of two vectors."""
    return _dotted(self, tensor, shapes.dot(self, tensor).dtype, out)


def _dotted(self: Tensor, vector: Tensor, dtype: dtype, out: Tensor | None) -> Tensor:
    left, right = self.array(), vector.array()
    if dtype in HALF_PRECISION:
        left, right = left.astype(np.float32), right.astype(np.float32)
    return finish(quietly(left.dot, right), dtype, out)


def addmm(
    keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
) -> Tensor:  # hot path: benchmarks/operators.py
    """A product plus a bias per column. Plain operands go straight to BLAS; `scaled_sum` is the plain twin."""
    dtype, bias, left, right = self.dtype, self._shape, mat1._shape, mat2._shape
    if (
        out is None
        and dtype in IN_BLAS
        and mat1.dtype is dtype is mat2.dtype
        and len(left) == 2 == len(right)
        and left[1] == right[0]
        and len(bias) == 1
        and bias[0] == right[1]
        and beta == 1 == alpha
        and left[0] * right[1] * dtype.itemsize < LARGE
    ):
        return wrap(quietly(affine, mat1.array(), mat2.array(), self.array()), dtype)
    return scaled_sum(keys, self, mat1, mat2, beta, alpha, out)


def scaled_sum(
    keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
) -> Tensor:
    """`beta * self + alpha * (mat1 @ mat2)`, everything checked.

    Where beta is 0, `self` is not read, and where alpha is 0 the matrices are not: NaN in them is ignored.
    """
    shape, dtype, *_ = shapes.addmm(self, mat1, mat2, beta, alpha)
    computed = float32 if dtype in NARROW_FLOATS else dtype
    beta, alpha = factor(beta, computed), factor(alpha, computed)
    # The product may be written straight into `out` unless a bias must still be read from there.
    free = out is not None and computed is dtype and (beta == 0 or not _shares(out, self))
    target = out.array() if out is not None and free else None
    if alpha == 0:
        result = np.zeros(shape, computed.numpy)
    else:
        left, right = mat1.array(), mat2.array()
        if computed is not dtype:
            left, right = as_single.run(left), as_single.run(right)
        result = product(left, right, shape, computed, target)
        if alpha != 1:
            quietly(np.multiply, result, alpha, result)
    if beta != 0:
        bias = self.array()
        if computed is not dtype:
            bias = bias.astype(np.float32)
        quietly(np.add, result, bias if beta == 1 else quietly(np.multiply, bias, beta), result)
    if out is None:
        return wrap(stored(result, dtype, None), dtype)
    if result is not target:
        stored(result, dtype, out.array())
    return out


def _shares(a: Tensor, b: Tensor) -> bool:
    return a is b or (a._storage is not None and a._storage is b._storage)


structured(CPU, "mm", mm)
structured(CPU, "bmm", bmm)
structured(CPU, "mv", mv)
structured(CPU, "dot", dot)
structured(CPU, "addmm", addmm)
