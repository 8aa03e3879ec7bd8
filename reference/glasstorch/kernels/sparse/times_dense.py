"""How is a sparse matrix multiplied with a strided one?

Mirrors: aten/src/ATen/native/sparse/SparseTensorMath.cpp (s_addmm_out_sparse_dense_worker)
Differs: SciPy's loops multiply, called by their own names: decisions/0046. To make one of SciPy's matrices first takes
    as long as a small product does.
"""

from __future__ import annotations

import numpy as np

from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array


def compressed_times_dense(
    of_rows: bool, shape: Shape, starts: Array, places: Array, values: Array, dense: Array
) -> Array:  # hot path: benchmarks/sparse.py
    """The product with a CSR matrix, or with a CSC one; all values have one dtype."""
    from scipy.sparse import _sparsetools as loops

    rows, length = shape
    columns = dense.shape[1]
    product = np.zeros((rows, columns), values.dtype)
    multiply = loops.csr_matvecs if of_rows else loops.csc_matvecs
    multiply(rows, length, columns, starts, places, values, dense.ravel(), product.ravel())
    return product


def coo_times_dense(indices: Array, values: Array, rows: int, dense: Array) -> Array:  # hot path: benchmarks/sparse.py
    """The product with a COO matrix, whose elements may be in any order and specified more than once."""
    from scipy.sparse import _sparsetools as loops

    columns = dense.shape[1]
    product = np.zeros((rows, columns), values.dtype)
    row, column = indices
    loops.coo_matmat_dense(len(values), columns, row, column, values, dense.ravel(), product)
    return product
