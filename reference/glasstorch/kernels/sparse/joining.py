"""How are COO tensors joined into one?

Mirrors: aten/src/ATen/native/TensorShape.cpp (cat_sparse_impl)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import promote_types
from glasstorch.core.errors import ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.kernels.sparse.tensors import KNOWN, SPARSE, coo_of, parts


@SPARSE.impl("cat")
def cat(keys: int, tensors: Sequence[Tensor], dim: int) -> Tensor:
    """The tensors one after the other along a dimension."""
    for position, tensor in enumerate(tensors):
        if not tensor.is_sparse:
            raise ShapeError(f"Concatenating sparse tensors, but a dense tensor was found at position {position}.")
    first = tensors[0]
    dim, held = wrap_dim(dim, len(first._shape)), parts(first)
    check_alike(tensors, dim)
    to = reduce(promote_types, [tensor.dtype for tensor in tensors])
    ends = np.cumsum([tensor._shape[dim] for tensor in tensors]).tolist()
    shape = (*first._shape[:dim], ends[-1], *first._shape[dim + 1 :])
    indices, values = [], []
    for tensor, end in zip(tensors, ends, strict=True):
        start = end - tensor._shape[dim]
        moved, elements = parts(tensor).indices.array().copy(), parts(tensor).values.to(to).array()
        if dim < held.sparse_dim:
            moved[dim] += start
        else:
            at = dim - held.sparse_dim + 1
            around = [(0, 0)] * elements.ndim
            around[at] = (start, ends[-1] - end)
            elements = np.pad(elements, around)
        indices.append(moved)
        values.append(elements)
    joined = np.concatenate(indices, 1)
    return coo_of(joined, np.concatenate(values), shape, to, joined.shape[1] < KNOWN)


def check_alike(tensors: Sequence[Tensor], dim: int) -> None:
    """Refuse tensors that differ in another dimension than the one they are joined along."""
    first = tensors[0]
    without = first._shape[:dim] + first._shape[dim + 1 :]
    for position, tensor in enumerate(tensors):
        if len(tensor._shape) != len(first._shape) or tensor._shape[:dim] + tensor._shape[dim + 1 :] != without:
            raise ShapeError(
                f"All tensors must have the same shape: {list(first._shape)} (except in the concatenating dimension), "
                f"but found shape: {list(tensor._shape)} at position {position}."
            )
        if parts(tensor).sparse_dim != parts(first).sparse_dim:
            raise ShapeError(
                f"All tensors must have the same number of sparse dimensions: {parts(first).sparse_dim}, but found "
                f"{parts(tensor).sparse_dim} at position {position}."
            )
