"""How is a tensor copied with the elements of one view replaced?

Mirrors: aten/src/ATen/native/TensorShape.cpp (slice_scatter, select_scatter, diagonal_scatter, as_strided_scatter,
    clone_preserve_strides)
Differs: the gradient of as_strided_scatter's first argument is zero where `src` was written and that of the result
    elsewhere; PyTorch 2.13 (as_strided_scatter_backward in torch/csrc/autograd/FunctionsManual.cpp) has it the other
    way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.geometry import has_internal_overlap
from glasstorch.core.hooks import decides
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

as_strided = on_tensor("as_strided")
clone = on_tensor("clone")
copy_ = on_tensor("copy_")
diagonal = on_tensor("diagonal")
select = on_tensor("select.int")
slice = on_tensor("slice.Tensor")


def slice_scatter(self: Tensor, src: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    """A copy of the tensor with `src` in place of what `slice` selects."""
    copied = _copied(self)
    return _written(copied, slice(copied, dim, start, end, step), src)


def select_scatter(self: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of the tensor with `src` in place of what `select` selects."""
    copied = _copied(self)
    return _written(copied, select(copied, dim, index), src)


def diagonal_scatter(self: Tensor, src: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """A copy of the tensor with `src` on a diagonal."""
    copied = _copied(self)
    return _written(copied, diagonal(copied, offset, dim1, dim2), src)


def as_strided_scatter(
    self: Tensor, src: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Tensor:
    """A copy of the tensor with `src` in place of a strided view; if a gradient is wanted, it must be contiguous."""
    if self.requires_grad and not self.is_row_major():
        raise ArgumentError(
            f"as_strided_scatter is currently only supported for contiguous inputs where a gradient is wanted; got "
            f"sizes {list(self._shape)} with strides {list(self.strides())}"
        )
    copied = _copied(self)
    return _written(copied, as_strided(copied, size, stride, storage_offset), src)


def _copied(self: Tensor) -> Tensor:
    """A copy of the whole storage, with the same strides and offset; a plain clone if the tensor overlaps itself.

    So it is for one example of a batch, in whose storage the others are too.
    """
    shape, strides = self._shape, self.strides()
    if has_internal_overlap(shape, strides) or not (self.is_meta or decides(self)):
        return clone(self, None)
    numel = self.untyped_storage().nbytes() // self.dtype.itemsize
    whole = clone(as_strided(self, (numel,), (1,), 0), None)
    return as_strided(whole, shape, strides, self._offset)


def _written(copied: Tensor, part: Tensor, src: Tensor) -> Tensor:
    if part._shape != src._shape:
        raise ShapeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src._shape)}, slice size = "
            f"{list(part._shape)}"
        )
    copy_(part, src, False)
    return copied
