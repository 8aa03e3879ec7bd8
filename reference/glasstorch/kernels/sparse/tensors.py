"""How does a kernel make a COO tensor, and read one?

Mirrors: aten/src/ATen/native/SparseTensorUtils.h, aten/src/ATen/native/sparse/SparseTensor.cpp
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, empty, made_of_parts, wrap
from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import dtype, int64
from glasstorch.core.errors import MissingKernelError
from glasstorch.core.geometry import Shape, contiguous_strides
from glasstorch.core.sparse_parts import CooParts
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable

SPARSE = KernelTable("SparseCPU", calls_operators=True)
SPARSE_META = KernelTable("SparseMeta", calls_operators=True)

KNOWN = 2  # fewer elements than this are coalesced wherever they are: a new tensor is known to be so, as in PyTorch


def coo(indices: Tensor, values: Tensor, shape: Shape, coalesced: bool) -> Tensor:
    """A COO tensor that consists of these tensors."""
    return made_of_parts(values.dtype, shape, CooParts(indices, values, coalesced), values.device)


def coo_of(indices: Array, values: Any, shape: Shape, dtype: dtype, coalesced: bool) -> Tensor:
    """A COO tensor of fresh arrays; the values may be a tensor."""
    if not isinstance(values, Tensor):
        values = wrap(np.ascontiguousarray(values), dtype)
    return coo(wrap(np.ascontiguousarray(indices), int64), values, shape, coalesced)


def empty_coo(shape: Shape, sparse_dim: int, dtype: dtype, on: device = CPU) -> Tensor:
    """A COO tensor in which no element is specified."""
    return coo(*no_elements(shape, sparse_dim, dtype, on), shape, True)


def no_elements(shape: Shape, sparse_dim: int, dtype: dtype, on: device = CPU) -> tuple[Tensor, Tensor]:
    """The indices and the values of such a tensor."""
    return empty((sparse_dim, 0), int64, on), empty((0, *shape[sparse_dim:]), dtype, on)


def parts(tensor: Tensor) -> CooParts:
    """What a COO tensor consists of."""
    if not tensor.is_sparse:
        raise MissingKernelError(f"expected a tensor of the layout torch.sparse_coo, got one of {tensor.layout}")
    return tensor._parts  # type: ignore[return-value]


def set_parts(tensor: Tensor, indices: Tensor, values: Tensor, coalesced: bool, shape: Shape | None = None) -> Tensor:
    """Let a COO tensor consist of other tensors, and have other sizes where they are given."""
    held = parts(tensor)
    held.indices, held.values, held.coalesced = indices, values, coalesced
    if shape is not None:
        tensor._shape, tensor._strides = shape, (0,) * len(shape)
    return tensor


def coalesced(tensor: Tensor) -> Tensor:
    """The tensor, or what it is when values of the same place are added up."""
    return tensor if parts(tensor).coalesced else coalesce(tensor)


def coalesce(self: Tensor) -> Tensor:
    """Values of the same place added up, in the order in which they stand, and places in row-major order."""
    held = parts(self)
    if held.nnz < 2:
        return coo(held.indices.clone(), held.values.clone(), self._shape, True)
    shape = self._shape[: held.sparse_dim]
    return coo_of(*added_up(held.indices.array(), held.values.array(), shape), self._shape, self.dtype, True)


def added_up(indices: Array, values: Array, shape: Shape) -> tuple[Array, Array]:
    """Each place once, in row-major order, with the sum of its values.

    `indices` has a column for each value, with an index for each dimension of `shape`. A value may be an array.
    """
    places = flat_places(indices, shape)
    order = np.argsort(places, kind="stable")
    places = places[order]
    begins = np.concatenate(([True], places[1:] != places[:-1]))
    (firsts,) = np.nonzero(begins)
    if len(firsts) == len(places):
        added = values[order]
    elif values.size:
        added = np.add.reduceat(values[order], firsts, axis=0, dtype=values.dtype)
    else:
        added = values[: len(firsts)]
    return indices[:, order[firsts]], added


def flat_places(indices: Array, shape: Shape) -> Array:
    """Each column of indices as one number, by which columns are in row-major order."""
    places = np.zeros(indices.shape[1], np.int64)
    for row, step in zip(indices, contiguous_strides(shape[: len(indices)]), strict=True):
        places += row * step
    return places
