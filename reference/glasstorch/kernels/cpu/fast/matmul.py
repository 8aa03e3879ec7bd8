"""How are the products of matrices that most calls ask for computed fast?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (addmm_impl_cpu_), cpu/BlasKernel.cpp
Differs: NumPy passes float32, float64 and complex operands to its BLAS, transposed ones without a copy. See Note
    [Integer products].

# Note [Integer products]
There is no BLAS for integers, and NumPy's loops for them are slow. Where no partial sum can reach 2^53, float64
represents every partial sum exactly, so the fast product of float64 matrices is exact.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import LARGE, empty_array
from glasstorch.core.dtype import COMPLEX_DTYPES, NARROW_FLOATS, Number, dtype, float32, float64
from glasstorch.core.geometry import Overlap
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import matmul as plain
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.pointwise.loops import plain_kernel
from glasstorch.kernels.halves import as_dtype, cast
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import overlap

REAL = frozenset((float32, float64))
IN_BLAS = REAL | COMPLEX_DTYPES
EXACT_BELOW = 1 << 53  # float64 represents every integer up to here exactly


# On arrays ------------------------------------------------------------------------------------------------------


@fast(
    plain.product,
    when="float32, float64 and complex numbers, in memory of the pool; many integers",
    benchmark="1e6: bmm, 61 of 128x128",
    exact="bits",
)
def product(left: Array, right: Array, dtype: dtype, out: Array | None = None) -> Array:
    """The product of two matrices, or of two batches of them, in `out` or in a fresh row-major array."""
    if dtype in IN_BLAS:
        if out is None:
            shape = (*left.shape[:-1], right.shape[-1])
            nbytes = left.itemsize
            for size in shape:
                nbytes *= size
            out = empty_array(shape, dtype.numpy, nbytes)
        if left.shape[-1] == 1 and left.ndim > 2 and right.shape[-1] >= thresholds.OUTER_COLUMNS_FROM and dtype in REAL:
            np.einsum("...ij,...jk->...ik", left, right, out=out)  # a sum that begins with 0: it gives no -0.0
            return out
        np.matmul(left, right, out)
        return out
    rows, inner, columns = left.shape[-2], left.shape[-1], right.shape[-1]
    if dtype in NARROW_FLOATS or 0 in left.shape or rows * inner * columns <= thresholds.INTEGERS_DIRECT_UP_TO:
        return plain.product.plain(left, right, dtype, out)
    result = integer_product(left, right)
    if out is None:
        return as_dtype.run(result, dtype.numpy)
    cast.run(out, result)
    return out


def integer_product(left: Array, right: Array) -> Array:
    """A product that wraps around on overflow; see Note [Integer products]."""
    if left.shape[-1] * magnitude(left) * magnitude(right) < EXACT_BELOW:
        exact = np.matmul(left.astype(np.float64), right.astype(np.float64))
        return exact.astype(np.int64)  # type: ignore[no-any-return]
    return np.matmul(left, np.asfortranarray(right) if right.ndim == 2 else right)  # type: ignore[no-any-return]


def magnitude(array: Array) -> int:
    """The largest absolute value, 0 for an empty array."""
    return max(abs(int(array.max(initial=0))), abs(int(array.min(initial=0))))


def affine(left: Array, right: Array, bias: Array) -> Array:
    """The product of two matrices, plus a bias that is broadcast to it."""
    result: Array = left.dot(right)
    np.add(result, bias, result)
    return result


# Kernels: plain operands go straight to BLAS --------------------------------------------------------------------


@fast(
    "mm",
    when="two matrices in float32, float64 or complex numbers; a result below 256 KiB",
    benchmark="`mm`, 64x64 by 64x128",
    exact=8.0,
)
def mm(keys: int, self: Tensor, mat2: Tensor) -> Tensor:  # hot path: benchmarks/operators.py
    """The product of two matrices."""
    dtype, left, right = self.dtype, self._shape, mat2._shape
    if (
        dtype in IN_BLAS
        and mat2.dtype is dtype
        and len(left) == 2 == len(right)
        and left[1] == right[0]
        and left[0] * right[1] * dtype.itemsize < LARGE
    ):
        return wrap(quietly(self.array().dot, mat2.array()), dtype)
    return plain.mm(keys, self, mat2)


@fast(
    "addmm",
    when="two such matrices, and a bias for each column or element; beta and alpha 1",
    benchmark="`linear`, 64x64 to 128",
    exact=8.0,
)
def addmm(
    keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number
) -> Tensor:  # hot path: benchmarks/operators.py
    """A product plus a bias."""
    dtype, bias, left, right = self.dtype, self._shape, mat1._shape, mat2._shape
    if (
        dtype in IN_BLAS
        and mat1.dtype is dtype is mat2.dtype
        and len(left) == 2 == len(right)
        and left[1] == right[0]
        and (bias[0] == right[1] if len(bias) == 1 else bias == (left[0], right[1]))
        and beta == 1 == alpha
        and left[0] * right[1] * dtype.itemsize < LARGE
    ):
        return wrap(quietly(affine, mat1.array(), mat2.array(), self.array()), dtype)
    return plain.addmm(keys, self, mat1, mat2, beta, alpha)


plain_addmm_out = plain_kernel("addmm.out")


@fast(
    "addmm.out",
    when="two such matrices; alpha 1, beta 0 or 1; a row-major out of the result's dtype and sizes, in other memory",
    benchmark="fast: addmm into out, 256x256",
    exact="bits",
)
def addmm_out(keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number, out: Tensor) -> Tensor:
    """The product is computed in `out`, and the bias is added there."""
    dtype, bias, left, right = out.dtype, self._shape, mat1._shape, mat2._shape
    if (
        dtype in IN_BLAS
        and self.dtype is dtype is mat1.dtype
        and mat2.dtype is dtype
        and len(left) == 2 == len(right)
        and left[1] == right[0]
        and (bias[0] == right[1] if len(bias) == 1 else bias == (left[0], right[1]))
        and alpha == 1
        and beta in (0, 1)
        and out._strides is None
        and out._shape == (left[0], right[1])
        and all(overlap(out, read) is Overlap.NO for read in (self, mat1, mat2))
    ):
        target = out.array()
        quietly(np.matmul, mat1.array(), mat2.array(), target)
        if beta:
            quietly(np.add, target, self.array(), target)
        return out
    return plain_addmm_out(keys, self, mat1, mat2, beta, alpha, out)
