"""How are matrices and vectors multiplied on the CPU, and their products added to a tensor?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (bmm, addmm_impl_cpu_, baddbmm, addbmm, addr), Blas.cpp (dot, mv,
    addmv), Linear.cpp (_trilinear), cpu/BlasKernel.cpp
Differs: NumPy multiplies: floats and complex numbers with its BLAS, integers in loops that wrap around on overflow. The
    products of addbmm are computed as one product of two long matrices. Narrower floats are computed in float32 and
    rounded once, at the end, except for the sums of addbmm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import empty_array
from glasstorch.core.dtype import NARROW_FLOATS, Number, dtype, float32
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import as_dtype, as_single, cast
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import add_structured, finish, shape_function, structured
from glasstorch.operators.shapes import matmul as shapes
from glasstorch.operators.shapes.scalars import number_as

CPU = KernelTable("CPU")

# Products -------------------------------------------------------------------------------------------------------


@slot
def product(left: Array, right: Array, dtype: dtype, out: Array | None = None) -> Array:
    """The product of two matrices, or of two batches of them, in `out` or in a fresh row-major array."""
    if dtype in NARROW_FLOATS:
        left, right = as_single.run(left), as_single.run(right)
    result = np.matmul(left, right)
    if out is None:
        return as_dtype.run(result, dtype.numpy)
    cast.run(out, result)
    return out


@structured(CPU, "mm")
def mm(keys: int, self: Tensor, mat2: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of two matrices."""
    return _multiplied(self, mat2, shapes.mm(self, mat2).dtype, out)


@structured(CPU, "bmm")
def bmm(keys: int, self: Tensor, mat2: Tensor, out: Tensor | None = None) -> Tensor:
    """The products of two batches of matrices."""
    return _multiplied(self, mat2, shapes.bmm(self, mat2).dtype, out)


def _multiplied(self: Tensor, mat2: Tensor, dtype: dtype, out: Tensor | None) -> Tensor:
    made = quietly(product.run, self.array(), mat2.array(), dtype, None if out is None else out.array())
    return wrap(made, dtype) if out is None else out


@structured(CPU, "mv")
def mv(keys: int, self: Tensor, vec: Tensor, out: Tensor | None = None) -> Tensor:
    """The product of a matrix and a vector."""
    return _dotted(np.ndarray.dot, self, vec, shapes.mv(self, vec).dtype, out)


@structured(CPU, "dot")
def dot(keys: int, self: Tensor, tensor: Tensor, out: Tensor | None = None) -> Tensor:
    """The dot product of two vectors."""
    return _dotted(np.ndarray.dot, self, tensor, shapes.dot(self, tensor).dtype, out)


@structured(CPU, "vdot")
def vdot(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The dot product of two vectors, the first conjugated."""
    return _dotted(np.vdot, self, other, shapes.dot(self, other).dtype, out)


def _dotted(function: Callable[..., Any], self: Tensor, vector: Tensor, dtype: dtype, out: Tensor | None) -> Tensor:
    left, right = self.array(), vector.array()
    if dtype in NARROW_FLOATS:
        left, right = as_single.run(left), as_single.run(right)
    return finish(quietly(function, left, right), dtype, out)


# Products added to a tensor ---------------------------------------------------------------------------------------

Multiply = Callable[[Array, Array, dtype], Array]  # of two arrays and the compute dtype


def added(name: str, multiply: Multiply, factors_fit: bool = False) -> Callable[..., Tensor]:
    """The kernel of `beta * self + alpha * multiply(left, right, dtype)`, computed in that dtype, then rounded.

    For integers, beta and alpha are truncated; with `factors_fit` they are refused if the result's dtype cannot hold
    them. Where beta is 0, `self` is not read, and where alpha is 0 the factors are not: NaN in them is ignored. In
    PyTorch it depends on dtype and size whether NaN in the factors is ignored.
    """
    shape = shape_function(name)

    def kernel(
        keys: int, self: Tensor, left: Tensor, right: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
    ) -> Tensor:
        result = shape(self, left, right, beta, alpha)
        computed = float32 if result.dtype in NARROW_FLOATS else result.dtype
        fit = result.dtype if factors_fit else computed
        beta, alpha = number_as(beta, fit), number_as(alpha, fit)

        def total() -> Array:
            if alpha == 0:
                found = np.zeros(result.shape, computed.numpy)
            else:
                found = multiply(_elements_in(left, computed), _elements_in(right, computed), computed)
                if alpha != 1:
                    found *= alpha
            if beta != 0:
                bias = _elements_in(self, computed)
                found += bias if beta == 1 else bias * beta
            return found

        return finish(quietly(total), result.dtype, out)

    return kernel


def _elements_in(tensor: Tensor, computed: dtype) -> Array:
    """A tensor's elements in the compute dtype."""
    array = tensor.array()
    if computed is float32 and tensor.dtype in NARROW_FLOATS:
        return as_single.run(array)
    return array.astype(computed.numpy, copy=False)


def product_in(left: Array, right: Array, dtype: dtype) -> Array:
    """The product of two matrices, or of two batches of them."""
    return product.run(left, right, dtype)


def sum_of_products(left: Array, right: Array, dtype: dtype) -> Array:
    """The sum of the products of two batches: the matrices side by side times the matrices stacked."""
    count, rows, inner = left.shape
    side_by_side = left.transpose(1, 0, 2).reshape(rows, count * inner)
    return product.run(side_by_side, right.reshape(count * inner, right.shape[2]), dtype)


addmm = added("addmm", product_in)
baddbmm = added("baddbmm", product_in)
addmv = added("addmv", lambda matrix, vector, dtype: matrix.dot(vector), factors_fit=True)
add_sum_of_products = added("addbmm", sum_of_products)


@structured(CPU, "addbmm")
def addbmm(
    keys: int, self: Tensor, batch1: Tensor, batch2: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
) -> Tensor:
    """`beta * self + alpha * (batch1 @ batch2).sum(0)`. Half precision adds product after product and rounds each."""
    narrow = self.dtype in NARROW_FLOATS and shapes.addbmm(self, batch1, batch2, beta, alpha)
    if not narrow or not batch1._shape[0]:
        return add_sum_of_products(keys, self, batch1, batch2, beta, alpha, out)
    *first, last = zip(batch1.unbind(), batch2.unbind(), strict=True)
    for left, right in first:
        self, beta = addmm(keys, self, left, right, beta, alpha), 1
    return addmm(keys, self, *last, beta, alpha, out)


@structured(CPU, "addr")
def addr(
    keys: int, self: Tensor, vec1: Tensor, vec2: Tensor, beta: Number, alpha: Number, out: Tensor | None = None
) -> Tensor:
    """`beta * self + alpha * vec1 * vec2`, with the outer product of the vectors; for bool, `or` and `and`.

    NaN in `self` is ignored where beta is 0; NaN in the vectors never is.
    """
    result = shapes.addr(self, vec1, vec2, beta, alpha)
    computed = op_math(result.dtype)
    beta, alpha = (number_as(value, result.dtype) for value in (beta, alpha))

    def total() -> Array:
        rows, columns = _elements_in(vec1, computed)[:, None], _elements_in(vec2, computed)
        found = empty_array(result.shape, computed.numpy, rows.size * columns.size * computed.itemsize)
        np.multiply(rows if alpha == 1 else rows * alpha, columns, found)
        if beta != 0:
            bias = _elements_in(self, computed)
            np.add(found, bias if beta == 1 else bias * beta, found)
        return found

    return finish(quietly(total), result.dtype, out)


@structured(CPU, "_trilinear")
def trilinear(
    keys: int,
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int,
    out: Tensor | None = None,
) -> Tensor:
    """The sums of the products of three tensors with new dimensions, two at a time: the first two, then the third.

    `unroll_dim` is the dimension that PyTorch loops over.
    """
    result = shapes.trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim)
    computed = op_math(result.dtype)
    first, second, third = (_elements_in(tensor, computed) for tensor in (i1, i2, i3))
    dims = range(len(i1._shape) + len(expand1))
    in_first, in_second, in_third = ([dim for dim in dims if dim not in new] for new in (expand1, expand2, expand3))
    in_both = [d for d in dims if (d in in_first or d in in_second) and (d in in_third or d not in sumdim)]
    in_result = [d for d in dims if (d in in_both or d in in_third) and d not in sumdim]

    def total() -> Array:
        pairs = np.einsum(first, in_first, second, in_second, in_both, optimize=True)
        if result.dtype in NARROW_FLOATS:
            pairs = as_single.run(as_dtype.run(pairs, result.dtype.numpy))
        return np.einsum(pairs, in_both, third, in_third, in_result, optimize=True).reshape(result.shape)  # type: ignore[no-any-return]

    return finish(quietly(total), result.dtype, out)


add_structured(CPU, "addmm", addmm)
add_structured(CPU, "baddbmm", baddbmm)
add_structured(CPU, "addmv", addmv)
