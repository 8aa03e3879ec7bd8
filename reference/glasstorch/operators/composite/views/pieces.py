"""Which operators split a tensor into pieces?

Mirrors: aten/src/ATen/native/TensorShape.cpp (narrow, chunk, split, tensor_split, hsplit, vsplit, dsplit, unsafe_split)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from glasstorch.core.dtype import INTEGRAL, int64
from glasstorch.core.errors import DimensionError, DtypeError, ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

slice = on_tensor("slice.Tensor")
split = on_tensor("split.Tensor")
split_with_sizes = on_tensor("split_with_sizes")
unsafe_split = on_tensor("unsafe_split.Tensor")
unsafe_split_with_sizes = on_tensor("unsafe_split_with_sizes")

Pieces = tuple["Tensor", ...]

# One piece ------------------------------------------------------------------------------------------------------


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` indices from `start` on; unlike a slice, it refuses a range that is out of bounds."""
    if not self._shape:
        raise ShapeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise ShapeError("narrow(): length must be non-negative.")
    size = self._shape[wrap_dim(dim, len(self._shape))]
    if not -size <= start <= size:
        raise DimensionError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start = start + size if start < 0 else start
    if start + length > size:
        raise ShapeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice(self, dim, start, start + length, 1)


def narrow_tensor(self: Tensor, dim: int, start: Tensor, length: int) -> Tensor:
    """As `narrow`, with a start given as a 0-dim tensor."""
    if start._shape or start.dtype.category != INTEGRAL:
        raise ShapeError("start must be an 0-dim integral Tensor.")
    return narrow(self, dim, int(start), length)


# Pieces of one size ---------------------------------------------------------------------------------------------


def chunk(self: Tensor, chunks: int, dim: int) -> Pieces:
    """Pieces of one size, at most `chunks` of them; the last may be smaller."""
    size = _chunk_size(self, chunks, dim)
    if not size:  # pieces of size 0 would never end; PyTorch returns as many as requested
        return split_with_sizes(self, [0] * chunks, dim)
    return split(self, size, dim)


def unsafe_chunk(self: Tensor, chunks: int, dim: int) -> Pieces:
    """As `chunk`, if the whole is not used again: autograd does not record the pieces as views."""
    size = _chunk_size(self, chunks, dim)
    if not size:
        return unsafe_split_with_sizes(self, [0] * chunks, dim)
    return unsafe_split(self, size, dim)


def _chunk_size(self: Tensor, chunks: int, dim: int) -> int:
    """The size of all chunks but the last."""
    if not self._shape:
        raise ShapeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise ShapeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return (self._shape[wrap_dim(dim, len(self._shape))] + chunks - 1) // chunks


# Pieces that are not recorded as views --------------------------------------------------------------------------
# Called below autograd, where views are not recorded: the pieces share memory, but no version counter.


def unsafe_split_tensor(self: Tensor, split_size: int, dim: int) -> Pieces:
    """As `split`, if the whole is not used again."""
    return split(self, split_size, dim)


def unsafe_split_sizes(self: Tensor, split_sizes: Sequence[int], dim: int) -> Pieces:
    """As `split_with_sizes`, if the whole is not used again."""
    return split_with_sizes(self, split_sizes, dim)


# Pieces as NumPy cuts them --------------------------------------------------------------------------------------


def tensor_split_sections(self: Tensor, sections: int, dim: int) -> Pieces:
    """A number of pieces; the first ones are larger by 1 if the size is not a multiple."""
    dim = _split_dim(self, dim)
    if sections <= 0:
        raise ShapeError(f"number of sections must be larger than 0, got {sections}")
    size, larger = self._shape[dim] // sections, self._shape[dim] % sections
    return _between(self, dim, [i * size + min(i, larger) for i in range(sections + 1)])


def tensor_split_indices(self: Tensor, indices: Sequence[int], dim: int) -> Pieces:
    """The pieces between the given indices, which are interpreted as slice bounds."""
    dim = _split_dim(self, dim)
    return _between(self, dim, [0, *indices, self._shape[dim]])


def _between(self: Tensor, dim: int, bounds: Sequence[int]) -> Pieces:
    """The slices from each bound to the next."""
    return tuple(slice(self, dim, start, end, 1) for start, end in pairwise(bounds))


def _split_dim(self: Tensor, dim: int) -> int:
    if not self._shape:
        raise ShapeError(
            f"tensor_split expected at least a 1-dimensional tensor, but got a tensor with {len(self._shape)} dims"
        )
    return wrap_dim(dim, len(self._shape))


def tensor_split_tensor(self: Tensor, tensor_indices_or_sections: Tensor, dim: int) -> Pieces:
    """As `tensor_split`, with an int64 CPU tensor: 0-dim is the number of sections, a vector holds indices."""
    given = tensor_indices_or_sections
    if not self._shape:
        _split_dim(self, dim)
    if given.device.type != "cpu":
        raise ShapeError(f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {given.device}")
    if given.dtype is not int64:
        raise DtypeError(
            f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {given.dtype.scalar_name}"
        )
    if len(given._shape) > 1:
        raise ShapeError(
            f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
            f"got a tensor with {len(given._shape)} dims"
        )
    values = given.host_array().tolist()
    if isinstance(values, int):
        return tensor_split_sections(self, values, dim)
    return tensor_split_indices(self, values, dim)


def hsplit_int(self: Tensor, sections: int) -> Pieces:
    """Equal pieces side by side: along dimension 1, or 0 of a vector."""
    return tensor_split_sections(self, *_equal(self, HSPLIT, sections))


def hsplit_array(self: Tensor, indices: Sequence[int]) -> Pieces:
    """The pieces between column indices."""
    return tensor_split_indices(self, indices, _numpy_dim(self, HSPLIT))


def vsplit_int(self: Tensor, sections: int) -> Pieces:
    """Equal pieces below one another: along dimension 0."""
    return tensor_split_sections(self, *_equal(self, VSPLIT, sections))


def vsplit_array(self: Tensor, indices: Sequence[int]) -> Pieces:
    """The pieces between row indices."""
    return tensor_split_indices(self, indices, _numpy_dim(self, VSPLIT))


def dsplit_int(self: Tensor, sections: int) -> Pieces:
    """Equal pieces in depth: along dimension 2."""
    return tensor_split_sections(self, *_equal(self, DSPLIT, sections))


def dsplit_array(self: Tensor, indices: Sequence[int]) -> Pieces:
    """The pieces between indices of dimension 2."""
    return tensor_split_indices(self, indices, _numpy_dim(self, DSPLIT))


class Cut(NamedTuple):
    """How one of NumPy's functions splits a tensor."""

    name: str
    rank: int  # the minimum number of dimensions
    dim: int  # the dimension that is split; the last one of a tensor with fewer


HSPLIT, VSPLIT, DSPLIT = Cut("hsplit", 1, 1), Cut("vsplit", 2, 0), Cut("dsplit", 3, 2)


def _numpy_dim(self: Tensor, cut: Cut) -> int:
    """The dimension that is split."""
    ndim = len(self._shape)
    if ndim < cut.rank:
        raise ShapeError(
            f"torch.{cut.name} requires a tensor with at least {cut.rank} dimension, but got a tensor with {ndim} "
            f"dimensions!"
        )
    return min(cut.dim, ndim - 1)


def _equal(self: Tensor, cut: Cut, sections: int) -> tuple[int, int]:
    """The number of sections, which must divide the size, and the dimension."""
    dim = _numpy_dim(self, cut)
    size = self._shape[dim]
    if sections == 0 or size % sections:
        raise ShapeError(
            f"torch.{cut.name} attempted to split along dimension {dim}, but the size of the dimension {size} is not "
            f"divisible by the split_size {sections}!"
        )
    return sections, dim
