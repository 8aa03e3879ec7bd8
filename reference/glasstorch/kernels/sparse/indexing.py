"""How are slices of a COO tensor picked by indices?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (index_select_sparse_cpu)
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import int64
from glasstorch.core.errors import DimensionError
from glasstorch.core.geometry import existing_dim
from glasstorch.core.layout import strided
from glasstorch.kernels.sparse.tensors import KNOWN, SPARSE, coo, coo_of, parts
from glasstorch.kernels.sparse.views import joined_places


@SPARSE.impl("index_select")
def index_select(keys: int, self: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of one dimension at a vector of indices."""
    if not self._shape:
        raise DimensionError("index_select() cannot be applied to a 0-dim tensor.")
    if len(index._shape) != 1 or index.dtype is not int64 or index.layout is not strided:
        raise DimensionError("index_select() argument index must be 1-D strided (non-sparse) long-tensor.")
    dim = existing_dim(dim, len(self._shape))
    size = self._shape[dim]
    wanted = index.array()
    for value in wanted[(wanted < -size) | (wanted >= size)].tolist():
        raise DimensionError(
            f"index_select(): index contains {value} that is out of range for tensor of size {list(self._shape)} at "
            f"dimension {dim}"
        )
    wanted = np.where(wanted < 0, wanted + size, wanted)
    held = parts(self)
    shape = (*self._shape[:dim], len(wanted), *self._shape[dim + 1 :])
    if dim >= held.sparse_dim:
        values = held.values.index_select(dim - held.sparse_dim + 1, index)
        return coo(held.indices.clone(), values, shape, held.nnz < KNOWN)
    indices = held.indices.array()
    ours, theirs = joined_places(indices[dim], wanted)
    picked = indices[:, ours]
    picked[dim] = theirs
    return coo_of(picked, held.values.array()[ours], shape, self.dtype, len(ours) < KNOWN)
