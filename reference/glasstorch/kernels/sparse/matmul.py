"""How are COO tensors multiplied as matrices?

Mirrors: aten/src/ATen/native/sparse/SparseTensorMath.cpp (addmm, s_addmm_out_sparse_dense_cpu,
    bmm_out_sparse_cpu, hspmm), SparseMatMul.cpp (sparse_sparse_matmul_cpu), SparseBlas.cpp (_sparse_mm_out, mv)
Differs: SciPy multiplies. Narrow floats are computed in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import NARROW_FLOATS, Number, dtype
from glasstorch.core.errors import DtypeError, ShapeError
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.halves import as_dtype, as_single
from glasstorch.kernels.sparse.pointwise import written_to
from glasstorch.kernels.sparse.products import Compressed, product_of_columns
from glasstorch.kernels.sparse.tensors import KNOWN, SPARSE, coalesced, coo_of, parts
from glasstorch.kernels.sparse.times_dense import coo_times_dense
from glasstorch.operators.composite.sparse.coo import SAID
from glasstorch.operators.shapes.scalars import number_as


def dense_product(self: Tensor, dense: Tensor) -> Array:
    """The product of a COO matrix, which need not be coalesced, and a strided one."""
    held = parts(self)
    values = held.values.array()
    if self.dtype in NARROW_FLOATS:
        values = as_single.run(values)
    return coo_times_dense(held.indices.array(), values, self._shape[0], _array(dense))


def _array(self: Tensor) -> Array:
    return as_single.run(self.array()) if self.dtype in NARROW_FLOATS else self.array()


def _finished(array: Any, to: dtype) -> Tensor:
    return wrap(as_dtype.run(np.ascontiguousarray(array), to.numpy), to)


def check_matrix(tensor: Tensor) -> None:
    """Refuse a COO tensor whose elements are no numbers, or that is no matrix."""
    held = parts(tensor)
    if held.dense_dim:
        raise ShapeError(f"addmm: scalar values expected, got {held.dense_dim}D values")
    if held.sparse_dim != 2:
        raise ShapeError(f"addmm: matrices expected, got {held.sparse_dim}D tensor")


def check_factors(sparse: Tensor, dense: Tensor) -> None:
    """Refuse factors that do not fit together."""
    check_matrix(sparse)
    if len(dense._shape) != 2:
        raise ShapeError(f"addmm: 2D tensor expected, got {len(dense._shape)}D tensor")
    if sparse._shape[1] != dense._shape[0]:
        raise ShapeError(f"addmm: Argument #3 (dense): Expected dim 0 size {sparse._shape[1]}, got {dense._shape[0]}")
    if sparse.dtype is not dense.dtype:
        raise DtypeError(f"expected scalar type {sparse.dtype.scalar_name} but found {dense.dtype.scalar_name}")


@SPARSE.impl("mm")
def mm(keys: int, self: Tensor, mat2: Tensor) -> Tensor:
    """The product: sparse of two sparse matrices, strided of a sparse and a strided one."""
    if self.is_sparse and mat2.is_sparse:
        return sparse_sparse_matmul(keys, self, mat2)
    if not self.is_sparse:
        return mm(keys, mat2.t(), self.t()).t()
    check_factors(self, mat2)
    return _finished(dense_product(self, mat2), self.dtype)


@SPARSE.impl("mm.out")
def mm_out(keys: int, self: Tensor, mat2: Tensor, out: Tensor) -> Tensor:
    """The product, put into a tensor."""
    made = mm(keys, self, mat2)
    return written_to(out, made) if made.is_sparse else out.resize_(made._shape).copy_(made)


@SPARSE.impl("_sparse_sparse_matmul")
def sparse_sparse_matmul(keys: int, self: Tensor, other: Tensor) -> Tensor:
    """The product of two sparse matrices, sparse and coalesced."""
    for tensor in (self, other):
        if len(tensor._shape) != 2 or parts(tensor).dense_dim:
            raise ShapeError(
                f"sparse_mm: matrices of numbers are expected, got sizes {list(tensor._shape)} with "
                f"{parts(tensor).dense_dim} dense dimensions"
            )
    if self._shape[1] != other._shape[0]:
        (a, b), (c, d) = self._shape, other._shape
        raise ShapeError(f"mat1 and mat2 shapes cannot be multiplied ({a}x{b} and {c}x{d})")
    if self.dtype is not other.dtype:
        raise DtypeError(f"mat1 dtype {self.dtype.scalar_name} does not match mat2 dtype {other.dtype.scalar_name}")
    product = product_of_columns(by_columns(self), by_columns(other))
    indices = np.empty((2, len(product.places)), np.int64)
    indices[0] = np.repeat(np.arange(product.lines, dtype=product.starts.dtype), np.diff(product.starts))
    indices[1] = product.places
    values = as_dtype.run(product.values, self.dtype.numpy)
    return coo_of(indices, values, (self._shape[0], other._shape[1]), self.dtype, True)


def by_columns(self: Tensor) -> Compressed:
    """The arrays of a COO matrix with its columns compressed."""
    held, (rows, columns) = parts(coalesced(self)), self._shape
    values = held.values.array()
    if self.dtype in NARROW_FLOATS:
        values = as_single.run(values)
    row, column = held.indices.array()
    starts = np.searchsorted(row, np.arange(rows + 1))  # coalesced: its rows are in order
    return Compressed(starts, column, np.ascontiguousarray(values), rows, columns).narrow().across()


@SPARSE.impl("mv")
def mv(keys: int, self: Tensor, vec: Tensor) -> Tensor:
    """The product of a sparse matrix and a vector."""
    if len(self._shape) != 2 or len(vec._shape) != 1:
        raise ShapeError(
            f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {len(self._shape)}Tensor Dim: "
            f"{len(vec._shape)}"
        )
    if self._shape[1] != vec._shape[0]:
        raise ShapeError(f"mv: expected self.size(-1) == vec.size(-1), but got {self._shape[1]} and {vec._shape[0]}")
    return mm(keys, self, vec.unsqueeze(1)).squeeze(1)


@SPARSE.impl("bmm")
def bmm(keys: int, self: Tensor, mat2: Tensor) -> Tensor:
    """The product of each sparse matrix of a batch with a strided one."""
    if not self.is_sparse:
        return bmm(keys, mat2.transpose(1, 2), self.transpose(1, 2)).transpose(1, 2)
    if mat2.is_sparse:
        raise ShapeError("bmm_sparse: Tensor 'mat2' must be dense")
    if parts(self).dense_dim:
        raise ShapeError(f"bmm_sparse: Tensor 'self' must have 0 dense dims, but has {parts(self).dense_dim}")
    if parts(self).sparse_dim != 3:
        raise ShapeError(f"bmm_sparse: Tensor 'self' must have 3 sparse dims, but has {parts(self).sparse_dim}")
    if len(mat2._shape) != 3:
        raise ShapeError(f"bmm_sparse: Tensor 'mat2' must have 3 dims, but has {len(mat2._shape)}")
    if self._shape[0] != mat2._shape[0] or self._shape[2] != mat2._shape[1]:
        raise ShapeError(
            "bmm_sparse: Tensor 'self' and 'mat2' must have the same size in dim 0, and dim 2 of 'self' "
            "that of dim 1 of 'mat2'"
        )
    # One matrix with the batch's matrices on its diagonal.
    held = parts(self)
    batch, rows, inner = self._shape
    of, row, column = held.indices.array()
    tall = coo_of(
        np.stack((of * rows + row, of * inner + column)), held.values, (batch * rows, batch * inner), self.dtype, False
    )
    product = mm(keys, tall, mat2.reshape(batch * inner, mat2._shape[2]))
    return product.view(batch, rows, mat2._shape[2])


@SPARSE.impl("bmm.out")
def bmm_out(keys: int, self: Tensor, mat2: Tensor, out: Tensor) -> Tensor:
    """The same, put into a strided tensor."""
    made = bmm(keys, self, mat2)
    return out.resize_(made._shape).copy_(made)


@SPARSE.impl("addmm")
def addmm(keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number) -> Tensor:
    """`beta * self + alpha * mat1 @ mat2`, of a sparse mat1 and strided tensors."""
    if self.is_sparse:
        raise ShapeError("addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse")
    if not mat1.is_sparse or mat2.is_sparse:
        one, two = SAID[mat1.layout.name], SAID[mat2.layout.name]
        raise ShapeError(
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided layout, got "
            f"'mat1' with layout {one} and 'mat2' with layout {two}"
        )
    check_factors(mat1, mat2)
    shape = (mat1._shape[0], mat2._shape[1])
    biased = self.expand(shape)
    product = dense_product(mat1, mat2)
    if alpha != 1:
        product = product * number_as(alpha, self.dtype)
    if beta != 0:
        bias = _array(biased)
        product = product + (bias if beta == 1 else bias * number_as(beta, self.dtype))
    return _finished(product, self.dtype)


@SPARSE.impl("addmm_")
def addmm_(keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number) -> Tensor:
    """The same in place."""
    return self.copy_(addmm(keys, self, mat1, mat2, beta, alpha))


@SPARSE.impl("addmm.out")
def addmm_out(keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number, out: Tensor) -> Tensor:
    """The same, put into a strided tensor."""
    made = addmm(keys, self, mat1, mat2, beta, alpha)
    return out.resize_(made._shape).copy_(made)


@SPARSE.impl("hspmm")
def hspmm(keys: int, mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a strided matrix with one sparse dimension: rows of zeros are left out."""
    check_factors(mat1, mat2)
    product = mm(keys, mat1, mat2)
    rows = np.unique(parts(mat1).indices.array()[0])
    return coo_of(rows[None], product.array()[rows], product._shape, product.dtype, len(rows) < KNOWN)


@SPARSE.impl("sspaddmm.out")
def sspaddmm_out(
    keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number, out: Tensor
) -> Tensor:
    """`beta * self + alpha * mat1 @ mat2` as a sparse matrix: each row that mat1 specifies is whole."""
    check_factors(mat1, mat2)
    product = hspmm(keys, mat1, mat2)
    (rows,) = parts(product).indices.array()
    columns = mat2._shape[1]
    places = np.stack((np.repeat(rows, columns), np.tile(np.arange(columns), len(rows))))
    values = parts(product).values.array().reshape(-1)
    values = values * product.dtype.numpy.type(alpha) if alpha != 1 else values
    ours = parts(self)
    kept = ours.values.array() * self.dtype.numpy.type(beta) if beta != 1 else ours.values.array()
    indices = np.concatenate((ours.indices.array(), places), 1)
    return written_to(out, coo_of(indices, np.concatenate((kept, values)), product._shape, product.dtype, False))
