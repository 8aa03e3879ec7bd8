"""How are the elements of a CSR tensor summed and multiplied up?

Mirrors: aten/src/ATen/native/sparse/SparseCsrTensorMath.cpp (reduce_sparse_csr_cpu_template)
Differs: one sort for all three cases in place of a loop for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import ArgumentError
from glasstorch.core.layout import sparse_csr
from glasstorch.kernels.sparse.compressed.tensors import COMPRESSED, Places, built, parts, places_of
from glasstorch.kernels.sparse.reductions import Dims, dims_of
from glasstorch.operators.composite.sparse.coo import SAID


@COMPRESSED.impl("sum")
def sum_all(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:
    """The sum of all values."""
    return parts(self).values.sum(dtype=dtype)


@COMPRESSED.impl("sum.dim_IntList")
def sum_dims(keys: int, self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None) -> Tensor:
    """The sum over rows, columns or both, which stay with one element each."""
    if self.layout is not sparse_csr:
        raise ArgumentError(
            "Currently the only compressed sparse format supported for sum.dim_IntList is CSR, but got layout "
            f"{SAID[self.layout.name]}"
        )
    return csr_sum(keys, self, dim, keepdim, dtype)  # type: ignore[arg-type]


@COMPRESSED.impl("_sparse_csr_sum.dim_dtype")
def csr_sum(keys: int, self: Tensor, dim: Sequence[int], keepdim: bool, dtype: dtype | None) -> Tensor:
    """The same."""
    return reduced(self, dim, keepdim, self.to(dtype) if dtype else self, np.add, lambda x: x.sum(0))


@COMPRESSED.impl("_sparse_csr_prod.dim_dtype")
def csr_prod(keys: int, self: Tensor, dim: Sequence[int], keepdim: bool, dtype: dtype | None) -> Tensor:
    """The product of the specified elements."""
    return reduced(self, dim, keepdim, self.to(dtype) if dtype else self, np.multiply, lambda x: x.prod(0))


def reduced(
    self: Tensor, dim: Dims, keepdim: bool, cast: Tensor, function: Any, of_none: Callable[[Tensor], Tensor]
) -> Tensor:
    """What a function makes of all elements of a row, a column or the matrix; those without any stay unspecified."""
    if not keepdim:
        raise ArgumentError("reduction operations on CSR tensors with keepdim=False is unsupported")
    if len(self._shape) != 2:
        raise ArgumentError(f"reductions of CSR tensors are of matrices, got a tensor of {len(self._shape)} dimensions")
    dims = dims_of(self, dim if dim or isinstance(dim, int) else None)
    to = of_none(parts(cast).values[:0]).dtype  # integers are added up as int64
    places = places_of(cast)
    rows, columns = (np.zeros_like(one) if d in dims else one for d, one in enumerate((places.rows, places.columns)))
    key = rows * self._shape[1] + columns
    order = np.argsort(key, kind="stable")
    (firsts,) = np.nonzero(np.concatenate((np.ones(min(1, len(key)), bool), np.diff(key[order]) != 0)))
    elements = parts(cast).values.to(to).array()
    if len(firsts):
        elements = function.reduceat(elements[order], firsts, dtype=to.numpy)
    chosen = order[firsts]
    shape = tuple(1 if d in dims else size for d, size in enumerate(self._shape))
    index = parts(self).plain.array().dtype
    found = Places(places.batch[chosen], rows[chosen], columns[chosen], elements)
    return built(sparse_csr, found, (), shape, to, index)
