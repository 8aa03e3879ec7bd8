"""Which operators flip, rotate and repeat elements by calling others?

Mirrors: aten/src/ATen/native/TensorTransformations.cpp (rot90, fliplr, flipud), TensorShape.cpp (repeat, tile),
    Repeat.cpp (repeat_interleave)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import int32, int64
from glasstorch.core.errors import ArgumentError, DimensionError, ShapeError, not_implemented_for
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.layout import contiguous_format
from glasstorch.operators.composite.creation import new_empty
from glasstorch.operators.direct import on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

flip = on_tensor("flip")
clone = on_tensor("clone")
transpose_ = on_tensor("transpose_")
view = on_tensor("view")
expand = on_tensor("expand")
repeat_operator = on_tensor("repeat")
index_select = on_tensors("index_select")
repeated_indices = on_tensor("repeat_interleave.Tensor")

# Flipped --------------------------------------------------------------------------------------------------------


def fliplr(self: Tensor) -> Tensor:
    """The columns in reverse order."""
    if len(self._shape) < 2:
        raise ShapeError("Input must be >= 2-d.")
    return flip(self, (1,))


def flipud(self: Tensor) -> Tensor:
    """The rows in reverse order."""
    if not self._shape:
        raise ShapeError("Input must be >= 1-d.")
    return flip(self, (0,))


def rot90(self: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """`k` quarter turns from the first of two dimensions to the second: flips, and a transposition if k is odd."""
    ndim = len(self._shape)
    if len(dims) != 2:
        raise ShapeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise ShapeError(f"expected total dims >= 2, but got total dims = {ndim}")
    first, second = dims
    if wrap_dim(first, ndim) == wrap_dim(second, ndim):
        raise ShapeError(f"expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}")
    turns = k % 4
    if turns == 0:
        return clone(self, contiguous_format)
    if turns == 2:
        return flip(self, dims)
    return transpose_(flip(self, (second if turns == 1 else first,)), first, second)


# Repeated -------------------------------------------------------------------------------------------------------


def repeat(self: Tensor, repeats: Sequence[int]) -> Tensor:
    """The tensor tiled `repeats` times along each dimension; new dimensions come first."""
    added = len(repeats) - len(self._shape)
    if added < 0:
        raise ShapeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    sizes = (*[1] * added, *self._shape)
    shape = tuple(size * times for size, times in zip(sizes, repeats, strict=True))
    result = new_empty(self, shape, None, None, None, None)
    if 0 in shape:
        return result
    blocks = [n for pair in zip(repeats, sizes, strict=True) for n in pair]  # each dimension as (times, size)
    once = view(self, [n for size in sizes for n in (1, size)])
    view(result, blocks).copy_(expand(once, blocks, False))
    return result


def tile(self: Tensor, dims: Sequence[int]) -> Tensor:
    """As `repeat`; with fewer numbers than dimensions, the leading dimensions are not repeated."""
    missing = len(self._shape) - len(dims)
    return repeat_operator(self, (*[1] * missing, *dims))


def repeat_interleave_tensor(self: Tensor, repeats: Tensor, dim: int | None, output_size: int | None) -> Tensor:
    """Each slice along a dimension, repeated as often as its element of `repeats` says."""
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
    """Each slice along a dimension, repeated `repeats` times."""
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
