"""How are scaled products of matrices and vectors added to a tensor, and conjugated dot products computed, on the CPU?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (baddbmm, addbmm, addr), aten/src/ATen/native/Blas.cpp (addmv, vdot)
Differs: the products of addbmm are computed as one product of two long matrices. Half precision is rounded once, at the
    end, except for the sums of addbmm.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.allocator import empty_array
from glasstorch.core.dtype import NARROW_FLOATS, Number, bool_, dtype, float32
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.matmul.products import addmm, dot, factor, product
from glasstorch.kernels.cpu.reductions.sums import finish
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import matmul as shapes
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

CPU = KernelTable("CPU")


def added(
    self: Tensor, beta: Number, alpha: Number, result: Result, multiply: Callable[[dtype], Array], out: Tensor | None
) -> Tensor:
    """`beta * self + alpha * multiply(dtype)`, computed in the dtype passed to `multiply`, then rounded.

    Where beta is 0, `self` is not read, and where alpha is 0 the factors are not: NaN in them is ignored. In PyTorch it
    depends on dtype and size whether NaN in the factors is ignored.
    """
    computed = float32 if result.dtype in NARROW_FLOATS else result.dtype
    beta, alpha = factor(beta, computed), factor(alpha, computed)
    total = np.zeros(result.shape, computed.numpy) if alpha == 0 else multiply(computed)
    if alpha not in (0, 1):
        quietly(np.multiply, total, alpha, total)
    if beta != 0:
        bias = _elements_in(self, computed)
        quietly(np.add, total, bias if beta == 1 else quietly(np.multiply, bias, beta), total)
    return finish(total, result.dtype, out)


def baddbmm(
    keys: int, self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
) -> Tensor:
    """`beta * self + alpha * (batch1 @ batch2)`."""
    result = shapes.baddbmm(self, batch1, batch2, beta, alpha)

    def multiply(computed: dtype) -> Array:
        return product(_elements_in(batch1, computed), _elements_in(batch2, computed), result.shape, computed)

    return added(self, beta, alpha, result, multiply, out)


def addbmm(
    keys: int, self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
) -> Tensor:
    """`beta * self + alpha * (batch1 @ batch2).sum(0)`: the matrices side by side times the matrices stacked.

    Half precision adds the products one after another and rounds each sum.
    """
    result = shapes.addbmm(self, batch1, batch2, beta, alpha)
    if result.dtype in NARROW_FLOATS and batch1._shape[0]:
        *first, last = zip(batch1.unbind(), batch2.unbind(), strict=True)
        for left, right in first:
            self, beta = addmm(keys, self, left, right, beta, alpha), 1
        return addmm(keys, self, *last, beta, alpha, out)

    def multiply(computed: dtype) -> Array:
        left, right = _elements_in(batch1, computed), _elements_in(batch2, computed)
        rows, columns = result.shape
        length = batch1._shape[0] * batch1._shape[2]
        side_by_side = left.transpose(1, 0, 2).reshape(rows, length)
        return product(side_by_side, right.reshape(length, columns), result.shape, computed)

    return added(self, beta, alpha, result, multiply, out)


def addmv(
    keys: int, self: Tensor, mat: Tensor, vec: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
) -> Tensor:
    """`beta * self + alpha * (mat @ vec)`."""
    result = shapes.addmv(self, mat, vec, beta, alpha)
    beta, alpha = (number_as(value, result.dtype) for value in (beta, alpha))

    def multiply(computed: dtype) -> Array:
        return quietly(_elements_in(mat, computed).dot, _elements_in(vec, computed))

    return added(self, beta, alpha, result, multiply, out)


def addr(
    keys: int, self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
) -> Tensor:
    """`beta * self + alpha * vec1 * vec2`, with the outer product of the vectors; for bool, `or` and `and`.

    NaN in `self` is ignored where beta is 0; NaN in the vectors never is.
    """
    result = shapes.addr(self, vec1, vec2, beta, alpha)
    computed = op_math(result.dtype)
    rows, columns = _elements_in(vec1, computed)[:, None], _elements_in(vec2, computed)
    beta, alpha = (number_as(value, result.dtype) for value in (beta, alpha))
    if result.dtype is bool_:
        total = rows & columns & bool(alpha)
        if beta:
            total |= self.array().astype(bool)
    else:
        if alpha != 1:
            rows = quietly(np.multiply, rows, _number_in(alpha, computed))
        total = empty_array(result.shape, computed.numpy, prod(result.shape) * computed.itemsize)
        quietly(np.multiply, rows, columns, total)
        if beta != 0:
            bias = _elements_in(self, computed)
            quietly(np.add, total, bias if beta == 1 else quietly(np.multiply, bias, _number_in(beta, computed)), total)
    return finish(total, result.dtype, out)


def _elements_in(tensor: Tensor, computed: dtype) -> Array:
    """A tensor's elements in the compute dtype."""
    return tensor.array().astype(computed.numpy, copy=False)


def _number_in(number: Number, computed: dtype) -> Any:
    return np.asarray(number).astype(computed.numpy)


def vdot(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The dot product of two vectors, the first conjugated."""
    if not self.dtype.is_complex:
        return dot(keys, self, other, out)
    return finish(quietly(np.vdot, self.array(), other.array()), shapes.dot(self, other).dtype, out)


structured(CPU, "baddbmm", baddbmm)
structured(CPU, "addbmm", addbmm)
structured(CPU, "addmv", addmv)
structured(CPU, "addr", addr)
structured(CPU, "vdot", vdot)
