"""Which ways of picking, repeating and subtracting elements are made of others?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (take, take_along_dim, index_fill,
    masked_scatter_backward), aten/src/ATen/native/Repeat.cpp,
    aten/src/ATen/native/ReduceOps.cpp (diff)
Differs: `take` is made of `index_select` here unless a backend has a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import STORED_ONLY, bool_, check_implemented, int32, int64
from glasstorch.core.errors import ArgumentError, DimensionError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import broadcast_shapes, wrap_dim
from glasstorch.core.hooks import decides
from glasstorch.core.layout import contiguous_format
from glasstorch.operators.composite.pointwise import only_number
from glasstorch.operators.direct import on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

index_fill = on_tensors("index_fill.int_Scalar")
index_select = on_tensors("index_select")
unsafe_view = on_tensor("_unsafe_view")
gather = on_tensors("gather")
cat = on_tensors("cat")
masked_select = on_tensors("masked_select")
logical_xor = on_tensors("logical_xor")
subtract = on_tensors("sub.Tensor")
repeated_indices = on_tensor("repeat_interleave.Tensor")


def check_take(self: Tensor, index: Tensor) -> None:
    """Refuse an index that does not consist of int64, a dtype without a kernel, and to take from nothing."""
    if index.dtype is not int64:
        raise DtypeError(f"take(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    check_implemented("take_cpu", self.dtype, STORED_ONLY)
    if index.numel() and not self.numel():
        raise DimensionError("take(): tried to take from an empty tensor")


def take(self: Tensor, index: Tensor) -> Tensor:
    """Elements by their number in row-major order, in the index's sizes."""
    check_take(self, index)
    size = self.numel()
    if index.numel() and decides(index):
        lowest, highest = int(index.min()), int(index.max())
        wrong = lowest if lowest < -size else highest
        if lowest < -size or highest >= size:
            raise DimensionError(f"out of range: tried to access index {wrong} on a tensor of {size} elements.")
    flat = index.reshape(-1).remainder(max(size, 1))
    picked: Tensor = index_select(self.reshape(-1), 0, flat)
    # No view: nobody has seen what it would be a view of.
    return picked if picked._shape == index._shape else unsafe_view(picked, index._shape)


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None) -> Tensor:
    """`gather` with tensor and indices broadcast in the other dimensions; without a dimension, by number."""
    if indices.dtype is not int64:
        raise DtypeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.scalar_name}")
    if dim is None:
        return gather(self.reshape(-1), 0, indices.reshape(-1), False)
    shape, wanted = self._shape, indices._shape
    if len(shape) != len(wanted):
        raise ShapeError(
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{len(shape)} dimensions for input, and {len(wanted)} dimensions for indices"
        )
    if not shape:
        raise DimensionError(f"Dimension specified as {max(dim, 0)} but tensor has no dimensions")
    d = wrap_dim(dim, len(shape))
    others = broadcast_shapes((*shape[:d], 1, *shape[d + 1 :]), (*wanted[:d], 1, *wanted[d + 1 :]))
    places = indices.expand((*others[:d], *wanted[d : d + 1], *others[d + 1 :]))
    source = self.expand((*others[:d], *shape[d : d + 1], *others[d + 1 :]))
    return gather(source, d, places.remainder(max(shape[d], 1)), False)  # as PyTorch reads any number


# index_fill, masked_scatter -------------------------------------------------------------------------------------


def index_fill_tensor(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    """`index_fill` with the number that a tensor holds."""
    return index_fill(self, dim, index, only_number("index_fill_", value))


def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """What the mask picks of a gradient, in the sizes of the source; elements that were not used have zeros."""
    picked: Tensor = masked_select(grad_output, mask)
    missing = prod(sizes) - picked.numel()
    if missing:
        picked = cat([picked, picked.new_zeros((missing,))], 0)
    return picked.view(sizes)


# repeat_interleave ----------------------------------------------------------------------------------------------


def repeat_interleave_tensor(self: Tensor, repeats: Tensor, dim: int | None, output_size: int | None) -> Tensor:
    """Each part along a dimension as often as its element of `repeats` says."""
    source = self if dim is not None else self.flatten()
    d = wrap_dim(0 if dim is None else dim, source.dim())
    source = source if source.dim() else source.reshape(1)
    counts = repeats
    if counts.dim() == 0 or (counts.dim() == 1 and counts.numel() == 1):
        counts = (counts if counts.dim() else counts.reshape(1)).expand((source._shape[d],))
    elif counts.dim() != 1:
        raise ShapeError("repeats must be 0-dim or 1-dim tensor")
    elif counts.numel() != source._shape[d]:
        raise ShapeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.numel()} and "
            f"input.size({d}) = {source._shape[d]}"
        )
    if counts.dtype not in (int32, int64):
        raise not_implemented_for("repeat_interleave_cpu", counts.dtype)
    return index_select(source, d, repeated_indices(counts, output_size))


def repeat_interleave_int(self: Tensor, repeats: int, dim: int | None, output_size: int | None) -> Tensor:
    """Each part along a dimension so many times."""
    if repeats < 0:
        raise ArgumentError("Repeats must be non-negative")
    if dim is not None and not self._shape:
        raise DimensionError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    source = self if dim is not None else self.reshape(-1)
    source = source if source.dim() else source.reshape(1)
    d = wrap_dim(0 if dim is None else dim, source.dim())
    shape = source._shape
    if output_size is not None and output_size != shape[d] * repeats:
        raise ArgumentError(
            f"repeat_interleave: Invalid output_size, expected {shape[d] * repeats} but got {output_size}"
        )
    wider = source.unsqueeze(d + 1).expand((*shape[: d + 1], repeats, *shape[d + 1 :]))
    return wider.clone(memory_format=contiguous_format).reshape((*shape[:d], shape[d] * repeats, *shape[d + 1 :]))


# diff -----------------------------------------------------------------------------------------------------------


def diff(self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    """What each element is more than the one before it, n times over; of bool, whether the two differ."""
    if not self.dim():
        raise ShapeError("diff expects input to be at least one-dimensional")
    d = wrap_dim(dim, self.dim())
    for other in (prepend, append):
        if other is not None and other.dim() != self.dim():
            raise ShapeError("diff expects prepend or append to be the same dimension as input")
    if n < 0:
        raise ArgumentError(f"order must be non-negative but got {n}")
    if n == 0:
        return self.clone()
    parts = [part for part in (prepend, self, append) if part is not None]
    result: Tensor = cat(parts, d) if len(parts) > 1 else self
    for _ in range(min(n, result._shape[d])):
        size = result._shape[d]
        later, earlier = result.narrow(d, 1, size - 1), result.narrow(d, 0, size - 1)
        result = logical_xor(later, earlier) if result.dtype is bool_ else subtract(later, earlier, 1)
    return result
