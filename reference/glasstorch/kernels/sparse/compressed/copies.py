"""How are tensors of the compressed layouts copied, converted to other dtypes, and masked?

Mirrors: aten/src/ATen/native/sparse/SparseCsrTensor.cpp (clone_sparse_compressed, copy_sparse_compressed_),
    aten/src/ATen/native/sparse/SparseCsrTensorMath.cpp (sparse_mask_sparse_compressed)
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor, alias, wrap
from glasstorch.core.device import device
from glasstorch.core.dtype import Number, dtype
from glasstorch.core.errors import ArgumentError, MissingKernelError, ShapeError
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import memory_format
from glasstorch.core.sparse_parts import BLOCKED
from glasstorch.kernels.sparse.compressed.conversion import in_blocks, to_dense
from glasstorch.kernels.sparse.compressed.tensors import (
    COMPRESSED,
    COMPRESSED_META,
    compressed,
    is_compressed,
    parts,
    places_of,
    with_values,
    zeros,
)
from glasstorch.kernels.sparse.copies import unsupported_order
from glasstorch.kernels.sparse.creation import no_sparse_tensors_on
from glasstorch.operators.composite.sparse.compressed import expected_compressed
from glasstorch.operators.composite.sparse.coo import SAID


@COMPRESSED_META.impl("detach", "alias")
@COMPRESSED.impl("detach", "alias")
def detach(keys: int, self: Tensor) -> Tensor:
    """The same parts in another tensor."""
    return alias(self)


@COMPRESSED_META.impl("clone")
@COMPRESSED.impl("clone")
def clone(keys: int, self: Tensor, memory_format: memory_format | None) -> Tensor:
    """A copy of indices and values."""
    if memory_format is not None:
        raise unsupported_order(memory_format)
    return with_values(self, parts(self).values.clone())


@COMPRESSED.impl("_to_copy")
def to_copy(
    keys: int,
    self: Tensor,
    dtype: dtype | None,
    layout: Layout | None,
    device: device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: memory_format | None,
) -> Tensor:
    """A copy with values of another dtype."""
    if device is not None and device.type != self.device.type:
        if device.type != "meta":
            raise no_sparse_tensors_on(device)
        return without_values(self, self.dtype if dtype is None else dtype, device)
    if layout is not None and layout is not self.layout:
        raise MissingKernelError(f"_to_copy: from {self.layout} to {layout}; call to_dense() or to_sparse() for that")
    return with_values(self, parts(self).values.to(self.dtype if dtype is None else dtype, copy=True))


def without_values(self: Tensor, dtype: dtype, on: device) -> Tensor:
    """A tensor of the same layout and sizes without specified elements."""
    held = parts(self)
    batch, start = held.plain._shape[:-1], held.batch_dim + 1
    starts, plain = zeros(held.compressed._shape, held.plain.dtype, on), zeros((*batch, 0), held.plain.dtype, on)
    return compressed(
        held.layout, starts, plain, zeros((*batch, 0, *held.values._shape[start:]), dtype, on), self._shape
    )


@COMPRESSED_META.impl("copy_")
@COMPRESSED.impl("copy_")
def copy_(keys: int, self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    """Overwrite with the indices and values of a tensor of the same layout and sizes, with as many elements."""
    if not is_compressed(self):
        raise expected_compressed("copy_sparse_compressed_", self.layout)
    if self.layout is not src.layout:
        raise ArgumentError(
            "torch.copy_: copy of sparse compressed tensors having different layouts is not supported. self layout is "
            f"{SAID[self.layout.name]} and src layout is {SAID[src.layout.name]}"
        )
    ours, theirs = parts(self), parts(src)
    if ours.nnz != theirs.nnz:
        raise ShapeError(
            "torch.copy_: only sparse compressed tensors with the same number of specified elements are supported."
        )
    if self._shape != src._shape or ours.values._shape != theirs.values._shape:
        raise ShapeError(
            f"torch.copy_: only tensors of the same sizes are supported, got {list(self._shape)} and {list(src._shape)}"
        )
    ours.compressed.copy_(theirs.compressed)
    ours.plain.copy_(theirs.plain)
    ours.values.copy_(theirs.values)
    return self


@COMPRESSED.impl("_local_scalar_dense")
def item(keys: int, self: Tensor) -> Number:
    """The only element; 0 where it is not specified."""
    return to_dense(keys, self, None, None).item()


@COMPRESSED.impl("sparse_mask")
def sparse_mask(keys: int, self: Tensor, mask: Tensor) -> Tensor:
    """The elements at the places that the mask specifies; 0 where a sparse tensor specifies none."""
    if not is_compressed(mask):
        raise ArgumentError(
            f"sparse_mask_sparse_compressed expects mask to have sparse compressed layout, got {SAID[mask.layout.name]}"
        )
    if self._shape != mask._shape:
        raise ShapeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self._shape)} but mask has size "
            f"{list(mask._shape)}"
        )
    if self is mask:
        return self
    held, places = parts(mask), places_of(mask)
    dense = self.array() if not (self.is_sparse or is_compressed(self)) else self.to_dense().array()
    picked = in_blocks(dense, held.batch_dim, held.blocksize or (1, 1))[places.batch, places.rows, places.columns]
    if held.layout not in BLOCKED:
        picked = picked[:, 0, 0]
    return with_values(mask, wrap(np.ascontiguousarray(picked).reshape(held.values._shape), self.dtype))
