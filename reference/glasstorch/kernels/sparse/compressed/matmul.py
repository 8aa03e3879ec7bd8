"""How are matrices of the compressed layouts multiplied?

Mirrors: aten/src/ATen/native/mkl/SparseBlasImpl.cpp, aten/src/ATen/native/sparse/SparseBlas.cpp
    (addmv_out_sparse_compressed, sparse_sampled_addmm_out_sparse_csr_cpu),
    aten/src/ATen/native/sparse/SparseCsrTensorMath.cpp (addmm_out_sparse_compressed_cpu, _sparse_csr_mm)
Differs: SciPy multiplies, where PyTorch calls MKL. Narrow floats are computed in float32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import NARROW_FLOATS, Number, dtype
from glasstorch.core.errors import ArgumentError, DimensionError, DtypeError, ShapeError
from glasstorch.core.layout import sparse_bsc, sparse_csc, sparse_csr, strided
from glasstorch.core.return_types import named_result
from glasstorch.core.sparse_parts import BLOCKED
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.halves import as_dtype, as_single
from glasstorch.kernels.sparse.compressed.creation import no_blocks
from glasstorch.kernels.sparse.compressed.pointwise import add, put_into
from glasstorch.kernels.sparse.compressed.tensors import COMPRESSED, compressed, parts, places_of, with_values
from glasstorch.kernels.sparse.compressed.views import transpose
from glasstorch.kernels.sparse.products import Compressed, product_of_columns
from glasstorch.kernels.sparse.times_dense import compressed_times_dense
from glasstorch.operators.composite.sparse.coo import SAID
from glasstorch.operators.shapes.scalars import number_as

# Which products there are: the layouts of what is added to, and of the factors, in the order of the table in PyTorch.
THERE_ARE = frozenset(
    tuple(row.split())
    for row in (
        "strided strided sparse_csr", "strided strided sparse_csc", "strided strided sparse_bsc",
        "strided sparse_csr strided", "strided sparse_csc strided", "strided sparse_bsr strided",
        "strided sparse_csr sparse_csr", "strided sparse_csr sparse_csc", "strided sparse_csc sparse_csc",
        "sparse_csr sparse_csr sparse_csr", "sparse_csr sparse_csr sparse_csc", "sparse_csr sparse_csc sparse_csr",
        "sparse_csr sparse_csc sparse_csc",
        "sparse_csc sparse_csc sparse_csc",
    )
)  # fmt: skip

# The products themselves ------------------------------------------------------------------------------------------


def as_scipy(self: Tensor) -> Any:
    """A matrix over the same memory as SciPy's of the same layout; a BSC one is the transposed of a BSR one."""
    if self.layout is strided:
        return as_single.run(self.array()) if self.dtype in NARROW_FLOATS else self.array()
    if self.layout is sparse_bsc:
        return as_scipy(transpose(0, self, 0, 1)).T
    from scipy.sparse import bsr_array, csc_array, csr_array

    held = parts(self)
    values = held.values.array()
    if self.dtype in NARROW_FLOATS:
        values = as_single.run(values)
    if self.layout in BLOCKED:
        made = bsr_array(self._shape, blocksize=held.blocksize, dtype=values.dtype)
        values = np.ascontiguousarray(values)
    else:
        made = (csr_array if self.layout is sparse_csr else csc_array)(self._shape, dtype=values.dtype)
    # Put in place one by one: the constructor would look through all indices to see if they fit narrower integers.
    made.indptr, made.indices, made.data = held.compressed.array(), held.plain.array(), values
    return made


def dense_product(mat1: Tensor, mat2: Tensor) -> Array:
    """The product of two matrices, one of which is sparse, as an array."""
    if mat2.layout is strided and mat1.layout in (sparse_csr, sparse_csc):
        held = parts(mat1)
        values = held.values.array()
        if mat1.dtype in NARROW_FLOATS:
            values = as_single.run(values)
        starts, places = held.compressed.array(), held.plain.array()
        return compressed_times_dense(mat1.layout is sparse_csr, mat1._shape, starts, places, values, as_scipy(mat2))
    product = as_scipy(mat1) @ as_scipy(mat2)
    return product if isinstance(product, np.ndarray) else product.toarray()


def csr_product(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two CSR or CSC matrices, CSR and with the columns of each row in order."""
    product = product_of_columns(by_columns(mat1), by_columns(mat2))
    index = parts(mat1).plain.dtype
    starts, columns = (one.astype(index.numpy, copy=False) for one in (product.starts, product.places))
    values = as_dtype.run(product.values, mat1.dtype.numpy)
    shape = mat1._shape[0], mat2._shape[1]
    return compressed(sparse_csr, wrap(starts, index), wrap(columns, index), wrap(values, mat1.dtype), shape)


def by_columns(self: Tensor) -> Compressed:
    """The arrays of a CSR or CSC matrix with its columns compressed."""
    held, (rows, columns) = parts(self), self._shape
    values = held.values.array()
    if self.dtype in NARROW_FLOATS:
        values = as_single.run(values)
    arrays = held.compressed.array(), held.plain.array(), np.ascontiguousarray(values)
    if self.layout is sparse_csc:
        return Compressed(*arrays, columns, rows)
    return Compressed(*arrays, rows, columns).narrow().across()


def check_factors(name: str, mat1: Tensor, mat2: Tensor) -> None:
    """Refuse factors that do not fit together."""
    if len(mat2._shape) < 2:
        raise DimensionError(
            f"Dimension out of range (expected to be in range of [{-len(mat2._shape)}, {len(mat2._shape) - 1}], but "
            "got 1)"
        )
    if len(mat1._shape) != 2 or len(mat2._shape) != 2:
        raise ShapeError(f"{name}: matrices expected, got {len(mat1._shape)}D and {len(mat2._shape)}D tensors")
    if mat1._shape[1] != mat2._shape[0]:
        (a, b), (c, d) = mat1._shape, mat2._shape
        raise ShapeError(f"mat1 and mat2 shapes cannot be multiplied ({a}x{b} and {c}x{d})")
    if mat1.dtype is not mat2.dtype:
        raise DtypeError(f"expected scalar type {mat1.dtype.scalar_name} but found {mat2.dtype.scalar_name}")


def check_there_is(of: Any, mat1: Tensor, mat2: Tensor) -> None:
    """Refuse a product of layouts that PyTorch has no kernel for."""
    if (of.name, mat1.layout.name, mat2.layout.name) not in THERE_ARE:
        said = [SAID[layout.name] for layout in (of, mat1.layout, mat2.layout)]
        raise ArgumentError(
            f"addmm: computation on {mat1.device.type.upper()} is not implemented for {said[0]} + {said[1]} @ {said[2]}"
        )


def _finished(array: Any, to: dtype) -> Tensor:
    return wrap(as_dtype.run(np.ascontiguousarray(array), to.numpy), to)


# mm and addmm -----------------------------------------------------------------------------------------------------


@COMPRESSED.impl("mm")
def mm(keys: int, self: Tensor, mat2: Tensor) -> Tensor:
    """The product: CSR of two CSR or CSC matrices, strided of a sparse and a strided one."""
    check_factors("mm", self, mat2)
    rows = (sparse_csr, sparse_csc)
    if self.layout in rows and mat2.layout in rows:
        return csr_product(self, mat2)
    if mat2.layout is not strided and self.layout in BLOCKED:
        raise no_blocks("zeros_sparse_compressed", self.layout)
    check_there_is(strided if mat2.layout is strided else self.layout, self, mat2)
    return _finished(dense_product(self, mat2), self.dtype)


@COMPRESSED.impl("mm.out")
def mm_out(keys: int, self: Tensor, mat2: Tensor, out: Tensor) -> Tensor:
    """The product, put into a tensor."""
    made = mm(keys, self, mat2)
    return put_into(out, made.to_dense() if out.layout is strided and made.layout is not strided else made)


@COMPRESSED.impl("addmm")
def addmm(keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number) -> Tensor:
    """`beta * self + alpha * mat1 @ mat2`, of the layouts that `THERE_ARE` lists."""
    check_factors("addmm", mat1, mat2)
    if self.layout in BLOCKED:
        raise no_blocks("empty_sparse_compressed", self.layout)
    check_there_is(self.layout, mat1, mat2)
    if self.layout is not strided:
        product = csr_product(mat1, mat2)
        if alpha != 1:
            product = product * alpha
        bias = self if self.layout is sparse_csr else self.to_sparse_csr()
        made = product if beta == 0 else add(keys, bias if beta == 1 else bias * beta, product, 1)
        return made if self.layout is sparse_csr else made.to_sparse_csc()
    biased = self.expand((mat1._shape[0], mat2._shape[1]))
    result = dense_product(mat1, mat2)
    if alpha != 1:
        result = result * number_as(alpha, self.dtype)
    if beta != 0:
        bias_array = as_scipy(biased)
        result = result + (bias_array if beta == 1 else bias_array * number_as(beta, self.dtype))
    return _finished(result, self.dtype)


@COMPRESSED.impl("addmm_")
def addmm_(keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number) -> Tensor:
    """The same in place."""
    return put_into(self, addmm(keys, self, mat1, mat2, beta, alpha))


@COMPRESSED.impl("addmm.out")
def addmm_out(keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number, out: Tensor) -> Tensor:
    """The same, put into a tensor."""
    return put_into(out, addmm(keys, self, mat1, mat2, beta, alpha))


# A matrix and a vector --------------------------------------------------------------------------------------------


@COMPRESSED.impl("addmv")
def addmv(keys: int, self: Tensor, mat: Tensor, vec: Tensor, beta: Number, alpha: Number) -> Tensor:
    """`beta * self + alpha * mat @ vec` of a sparse matrix and strided vectors."""
    if mat.layout is sparse_bsc:
        raise ArgumentError(f"torch.addmv: operation not supported for mat with {SAID[mat.layout.name]} layout")
    product = product_of_vector(mat, vec)
    if alpha != 1:
        product = product * number_as(alpha, self.dtype)
    if beta != 0:
        bias = as_scipy(self.expand((mat._shape[0],)))
        product = product + (bias if beta == 1 else bias * number_as(beta, self.dtype))
    return _finished(product, self.dtype)


def product_of_vector(mat: Tensor, vec: Tensor) -> Array:
    """The product of a sparse matrix and a vector, as an array."""
    if len(mat._shape) != 2 or len(vec._shape) != 1:
        raise ShapeError(f"vector + matrix @ vector expected, got 1, {len(mat._shape)}, {len(vec._shape)}")
    if mat._shape[1] != vec._shape[0]:
        raise ShapeError(
            f"size mismatch, got input ({mat._shape[0]}), mat ({mat._shape[0]}x{mat._shape[1]}), vec ({vec._shape[0]})"
        )
    if mat.dtype is not vec.dtype:
        raise DtypeError(f"expected scalar type {mat.dtype.scalar_name} but found {vec.dtype.scalar_name}")
    return as_scipy(mat) @ as_scipy(vec)  # type: ignore[no-any-return]


@COMPRESSED.impl("addmv_")
def addmv_(keys: int, self: Tensor, mat: Tensor, vec: Tensor, beta: Number, alpha: Number) -> Tensor:
    """The same in place."""
    return self.copy_(addmv(keys, self, mat, vec, beta, alpha))


@COMPRESSED.impl("addmv.out")
def addmv_out(keys: int, self: Tensor, mat: Tensor, vec: Tensor, beta: Number, alpha: Number, out: Tensor) -> Tensor:
    """The same, put into a tensor."""
    return put_into(out, addmv(keys, self, mat, vec, beta, alpha))


@COMPRESSED.impl("mv")
def mv(keys: int, self: Tensor, vec: Tensor) -> Tensor:
    """The product of a sparse matrix and a vector."""
    if self.layout is sparse_bsc:
        raise ArgumentError(f"torch.addmv: operation not supported for mat with {SAID[self.layout.name]} layout")
    return _finished(product_of_vector(self, vec), self.dtype)


# Products at some places only -------------------------------------------------------------------------------------


@COMPRESSED.impl("sparse_sampled_addmm")
def sampled_addmm(keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number) -> Tensor:
    """`alpha * mat1 @ mat2`, computed where `self` is specified only, and `beta * self` added."""
    check_sampled(self, mat1, mat2)
    held, places = parts(self), places_of(self)
    batches = math.prod(mat1._shape[:-2])
    left = as_scipy(mat1).reshape((batches, *mat1._shape[-2:]))
    right = as_scipy(mat2).reshape((batches, *mat2._shape[-2:]))
    product = np.einsum(
        "ij,ij->i", left[places.batch, places.rows], right.swapaxes(1, 2)[places.batch, places.columns]
    ).reshape(held.values._shape)
    if alpha != 1:
        product = product * number_as(alpha, self.dtype)
    if beta != 0:
        product = product + as_scipy(held.values) * number_as(beta, self.dtype)
    return with_values(self, _finished(product, self.dtype))


def check_sampled(self: Tensor, mat1: Tensor, mat2: Tensor) -> None:
    """Refuse what there is no such product of."""
    said = "sampled_addmm: Expected"
    if self.layout is not sparse_csr:
        raise ArgumentError(f"{said} result to have sparse csr layout, but got {SAID[self.layout.name]}")
    for name, mat in (("mat1", mat1), ("mat2", mat2)):
        if mat.layout is not strided:
            raise ArgumentError(f"{said} {name} to have strided layout, but got {SAID[mat.layout.name]}")
        if mat.dtype is not self.dtype:
            raise DtypeError(
                f"{said} {name} and self to have the same dtype, but got {mat.dtype.scalar_name} and "
                f"{self.dtype.scalar_name}"
            )
    (*batch, rows, inner), (*other, below, columns) = mat1._shape, mat2._shape
    if inner != below:
        raise ShapeError(
            f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {below}x{columns})"
        )
    if batch != other or (*batch, rows, columns) != self._shape:
        raise ShapeError(
            f"sampled_addmm: self has the sizes {list(self._shape)}, and the product of mat1 and mat2 those of "
            f"{list(mat1._shape)} and {list(mat2._shape)}"
        )


@COMPRESSED.impl("sparse_sampled_addmm.out")
def sampled_addmm_out(
    keys: int, self: Tensor, mat1: Tensor, mat2: Tensor, beta: Number, alpha: Number, out: Tensor
) -> Tensor:
    """The same, put into a CSR tensor."""
    return put_into(out, sampled_addmm(keys, self, mat1, mat2, beta, alpha))


# Solved -----------------------------------------------------------------------------------------------------------


@COMPRESSED.impl("triangular_solve")
def triangular_solve(
    keys: int, self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Tensor, Tensor]:
    """The solution of `A @ x = self` for a triangular CSR or CSC matrix; A is not copied, as it is for strided ones."""
    from scipy.sparse import tril, triu
    from scipy.sparse.linalg import spsolve_triangular

    if self.layout is not strided or A.layout not in (sparse_csr, sparse_csc):
        raise ArgumentError(
            f"triangular_solve: a strided tensor and a CSR or CSC matrix are expected, got the layouts {self.layout} "
            f"and {A.layout}"
        )
    check_factors("triangular_solve", A, self)
    matrix = (triu if upper else tril)(as_scipy(A), format="csr")
    if transpose:
        matrix = matrix.T.tocsr()
    right = as_scipy(self)
    solution = spsolve_triangular(matrix, right, lower=upper == transpose, unit_diagonal=unitriangular)
    return named_result(
        "triangular_solve", (_finished(solution, self.dtype), wrap(np.empty(0, A.dtype.numpy), A.dtype))
    )
