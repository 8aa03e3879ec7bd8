"""Which view operators are composed of other view operators?

Mirrors: aten/src/ATen/native/TensorShape.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentError, ShapeError, StorageError
from glasstorch.core.geometry import (
    Shape,
    broadcast_shapes,
    infer_size,
    is_expandable_to,
    may_overlap,
    moved_order,
    span,
    view_strides,
    wrap_dim,
)
from glasstorch.core.keys import FUNCTIONALITY_BIT, SPARSE, WRAPPED
from glasstorch.core.layout import contiguous_format
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.operators.composite.creation import arange, empty
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

view = on_tensor("view")
unsafe_view = on_tensor("_unsafe_view")
reshape_alias = on_tensor("_reshape_alias")
clone = on_tensor("clone")
permute = on_tensor("permute")
transpose = on_tensor("transpose.int")
sum_all = on_tensor("sum")
sum_dims = on_tensor("sum.dim_IntList")
unsqueeze = on_tensor("unsqueeze")
conj = on_tensor("conj")
contiguous = on_tensor("contiguous")
expand = on_tensor("expand")
select = on_tensor("select.int")
slice = on_tensor("slice.Tensor")
as_strided = on_tensor("as_strided")
index_put_ = on_tensor("index_put_")

SUBCLASS_LIKE = (
    WRAPPED | FUNCTIONALITY_BIT["Python"]
)  # isTensorSubclassLike: a mode is on, or a transform has wrapped it

# Another shape --------------------------------------------------------------------------------------------------


def reshape(self: Tensor, shape: Sequence[int]) -> Tensor:
    """A view where strides can express the shape, else a view of a fresh row-major copy."""
    wanted = infer_size(shape, self.numel())
    if self._strides is None:
        return view(self, wanted)
    if self.key_set & SPARSE:
        raise without_another_shape(self)
    if (strides := view_strides(self._shape, self._strides, wanted)) is not None:
        as_view = self.is_contiguous() or (active_keys.get()[0] | self.key_set) & SUBCLASS_LIKE
        return view(self, wanted) if as_view else reshape_alias(self, wanted, strides)
    return unsafe_view(clone(self, contiguous_format), wanted)


def without_another_shape(self: Tensor) -> Exception:
    """The error of a sparse tensor, whose elements lie in no order."""
    if self.is_sparse:
        return ArgumentError("reshape is not implemented for sparse tensors")
    return StorageError(f"Sparse {self.layout.name.removeprefix('sparse_').upper()} tensors do not have is_contiguous")


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`view` with another tensor's shape."""
    return view(self, other._shape)


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`reshape` with another tensor's shape."""
    return reshape(self, other._shape)


def flatten(self: Tensor, start_dim: int, end_dim: int) -> Tensor:
    """Adjacent dimensions merged into one; the tensor itself if there is nothing to merge."""
    shape = self._shape
    first, last = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if first > last:
        raise ShapeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(self, (1,))
    if first == last:
        return self
    joined = 1
    for size in shape[first : last + 1]:
        joined *= size
    return reshape(self, (*shape[:first], joined, *shape[last + 1 :]))


def ravel(self: Tensor) -> Tensor:
    """All elements as one vector: a view if they are contiguous, else a copy."""
    return view(contiguous(self, contiguous_format), (-1,))


def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """One dimension split into several, whose sizes multiply to its own."""
    shape = self._shape
    if not sizes:
        raise ShapeError("unflatten: sizes must be non-empty")
    if not shape:
        raise ShapeError(
            f"unflatten got an unexpected error:\nDimension specified as {dim} but tensor has no dimensions"
        )
    dim = wrap_dim(dim, len(shape))
    size = shape[dim]
    try:
        cut = infer_size(sizes, size)
    except ShapeError as error:
        if "is invalid for input of size" not in str(error):
            raise ShapeError(f"unflatten got an unexpected error:\n{error}") from None
        raise ShapeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({size}) in the input "
            f"tensor"
        ) from None
    return view(self, (*shape[:dim], *cut, *shape[dim + 1 :]))


def atleast_1d(self: Tensor) -> Tensor:
    """A 0-dim tensor as a vector of one element; any other tensor itself."""
    return self if self._shape else reshape(self, (1,))


def atleast_2d(self: Tensor) -> Tensor:
    """A 0-dim tensor or a vector as a matrix of one row."""
    ndim = len(self._shape)
    return self if ndim > 1 else unsqueeze(self, 0) if ndim else reshape(self, (1, 1))


def atleast_3d(self: Tensor) -> Tensor:
    """With dimensions of size 1 appended (for a vector, also prepended) until there are three."""
    ndim = len(self._shape)
    if ndim > 2:
        return self
    if not ndim:
        return reshape(self, (1, 1, 1))
    return unsqueeze(self if ndim == 2 else unsqueeze(self, 0), -1)


def atleast_1d_sequence(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`atleast_1d` of each."""
    return tuple(map(atleast_1d, tensors))


def atleast_2d_sequence(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`atleast_2d` of each."""
    return tuple(map(atleast_2d, tensors))


def atleast_3d_sequence(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`atleast_3d` of each."""
    return tuple(map(atleast_3d, tensors))


# Broadcast ------------------------------------------------------------------------------------------


def broadcast_to(self: Tensor, size: Sequence[int]) -> Tensor:
    """`expand` under NumPy's name."""
    return expand(self, size, False)


def broadcast_tensors(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """All tensors expanded to one shape; those that have it are returned themselves."""
    shape = broadcast_shapes(*(tensor._shape for tensor in tensors))
    return tuple(tensor if tensor._shape == shape else expand(tensor, shape, False) for tensor in tensors)


def sum_to_size(self: Tensor, size: Sequence[int]) -> Tensor:
    """The adjoint of `expand`: summed over expanded dimensions. The tensor itself if there are none."""
    shape, wanted = self._shape, tuple(size)
    if not is_expandable_to(wanted, shape):
        raise ShapeError(f"size {{{list(wanted)}}} is not expandable to size {{{list(shape)}}}.")
    if not wanted:
        return sum_all(self, None)
    leading = len(shape) - len(wanted)
    dims = [d for d in range(len(shape)) if d < leading or (wanted[d - leading] == 1 and shape[d] != 1)]
    summed = sum_dims(self, dims, True, None) if dims else self
    return view(summed, wanted) if leading else summed


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`expand` to another tensor's shape."""
    return expand(self, other._shape, False)


# Another order of dimensions ------------------------------------------------------------------------------------


def numpy_T(self: Tensor) -> Tensor:
    """The dimensions in reverse order; meant for matrices."""
    ndim = len(self._shape)
    if ndim == 0:
        warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif ndim != 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
    return permute(self, range(ndim - 1, -1, -1))


def mT(self: Tensor) -> Tensor:
    """The last two dimensions swapped."""
    if not self._shape:
        warn_once("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.")
    return _adjoint(self, "mT", conjugate=False)


def mH(self: Tensor) -> Tensor:
    """The last two dimensions swapped and complex numbers conjugated."""
    if not self._shape:
        warn_once("Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().")
    return _adjoint(self, "mH")


def adjoint(self: Tensor) -> Tensor:
    """The last two dimensions swapped and complex numbers conjugated."""
    if not self._shape:
        warn_once("adjoint() is deprecated on 0-D tensors. Consider using x.conj().")
    return _adjoint(self, "adjoint()")


def matrix_H(self: Tensor) -> Tensor:
    """A matrix transposed, with complex numbers conjugated."""
    ndim = len(self._shape)
    if ndim not in (0, 2):
        batches = " For batches of matrices, consider using tensor.mH" if ndim > 2 else ""
        raise ShapeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{batches}")
    if not ndim:
        warn_once("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
    return _adjoint(self, "H")


def _adjoint(self: Tensor, name: str, conjugate: bool = True) -> Tensor:
    """Matrices transposed and, if requested, conjugated. A 0-dim tensor has nothing to transpose."""
    ndim = len(self._shape)
    if ndim == 1:
        raise ShapeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    swapped = transpose(self, -2, -1) if ndim else self
    return conj(swapped) if conjugate and self.dtype.is_complex else swapped


def movedim(self: Tensor, source: Sequence[int], destination: Sequence[int]) -> Tensor:
    """Some dimensions moved to other positions; the rest keep their order."""
    return permute(self, moved_order(tuple(source), tuple(destination), len(self._shape)))


def movedim_int(self: Tensor, source: int, destination: int) -> Tensor:
    """One dimension moved to another position."""
    return permute(self, moved_order((source,), (destination,), len(self._shape)))


# Gradients of views ---------------------------------------------------------------------------------------------


def new_zeros(tensor: Tensor, size: Sequence[int]) -> Tensor:
    """Zeros of another size with a tensor's dtype and device."""
    return empty(size, tensor.dtype, None, tensor.device, None, None).zero_()


def select_backward(grad_output: Tensor, input_sizes: Sequence[int], dim: int, index: int) -> Tensor:
    """Zeros, with the gradient in place of what `select` selected."""
    result = new_zeros(grad_output, input_sizes)
    select(result, dim, index).copy_(grad_output)
    return result


def slice_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Tensor:
    """Zeros, with the gradient in place of what `slice` selected."""
    result = new_zeros(grad_output, input_sizes)
    slice(result, dim, start, end, step).copy_(grad_output)
    return result


def as_strided_backward(
    grad: Tensor,
    input_size: Sequence[int],
    input_stride: Sequence[int],
    input_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
) -> Tensor:
    """Each storage position receives the sum over the view's elements that read it; the input reads the sums.

    If several elements of the input share a storage position, they share the gradient equally.
    """
    if 0 in size or 0 in input_size:
        return new_zeros(grad, input_size)
    start = min(input_offset, offset)
    input_offset, offset = input_offset - start, offset - start
    input_shape, input_strides = tuple(input_size), tuple(input_stride)
    shape, strides = tuple(size), tuple(stride)
    cells = max(input_offset + span(input_shape, input_strides), offset + span(shape, strides))
    storage = new_zeros(grad, (cells,))
    if may_overlap(shape, strides):
        index_put_(storage, [_cells(shape, strides, offset, cells)], reshape(grad, (-1,)), True)
    else:
        as_strided(storage, shape, strides, offset).copy_(grad)
    if may_overlap(input_shape, input_strides):
        read = _cells(input_shape, input_strides, input_offset, cells)
        count = index_put_(new_zeros(storage, (cells,)), [read], storage.new_ones(()), True)
        storage = storage / count
    return as_strided(storage, input_shape, input_strides, input_offset)


def _cells(shape: Shape, strides: Shape, offset: int, cells: int) -> Tensor:
    """The storage position of each element of a geometry, in row-major order."""
    numbers = arange(0, cells, 1, int64, None, None, None)
    return reshape(as_strided(numbers, shape, strides, offset), (-1,))
