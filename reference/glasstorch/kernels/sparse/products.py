"""How are two sparse matrices multiplied so that the columns of each row of the product are in order?

Mirrors: aten/src/ATen/native/sparse/SparseMatMul.cpp (_csr_matmult)
Differs: SciPy's loops multiply, and a transposition sorts: decisions/0046.

SciPy's product has the columns of a row in any order, and its sort costs more than twice the product. To compress the
transposed product the other way sorts too, for a third of it. So the transposed factors are multiplied, in the other
order, which of CSC matrices are the arrays that they consist of.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasstorch.core.tensor_impl import Array

MOST_AHEAD = 1 << 26  # elements of a product for which memory is reserved without counting them first


class Compressed(NamedTuple):
    """The arrays of a matrix whose lines, rows or columns, are compressed, and how many lines it has and how long."""

    starts: Array
    places: Array
    values: Array
    lines: int
    length: int

    def across(self) -> Compressed:
        """The same matrix compressed along the other lines, and the places of each line in order."""
        from scipy.sparse import _sparsetools as loops

        starts = np.empty(self.length + 1, self.starts.dtype)
        places, values = np.empty_like(self.places), np.empty_like(self.values)
        loops.csr_tocsc(self.lines, self.length, self.starts, self.places, self.values, starts, places, values)
        return Compressed(starts, places, values, self.length, self.lines)

    def narrow(self) -> Compressed:
        """With indices of 32 bits where they fit: moving them is most of the work."""
        if max(len(self.places), self.lines, self.length) >= np.iinfo(np.int32).max:
            return self
        starts, places = (np.ascontiguousarray(one, np.int32) for one in (self.starts, self.places))
        return self._replace(starts=starts, places=places)

    def with_indices(self, index: Any) -> tuple[Array, Array, Array]:
        """The arrays, with indices of a dtype."""
        return np.asarray(self.starts, index), np.asarray(self.places, index), self.values


def product_of_columns(left: Compressed, right: Compressed) -> Compressed:
    """The product of two matrices whose columns are compressed, with its rows compressed and their columns in order."""
    from scipy.sparse import _sparsetools as loops

    left, right = left.narrow(), right.narrow()
    first, second = right, left  # the transposed factors
    lines, length = first.lines, second.length
    most = min(int(np.diff(second.starts)[first.places].sum()), lines * length)
    if most > MOST_AHEAD:
        most = loops.csr_matmat_maxnnz(lines, length, first.starts, first.places, second.starts, second.places)
    index: Any = np.int64 if most >= np.iinfo(np.int32).max else first.starts.dtype
    factors = [part for factor in (first, second) for part in factor.with_indices(index)]
    starts, places = np.empty(lines + 1, index), np.empty(most, index)
    values = np.empty(most, np.result_type(first.values, second.values))
    loops.csr_matmat(lines, length, *factors, starts, places, values)
    found = int(starts[-1])
    return Compressed(starts, places[:found], values[:found], lines, length).across()
