"""Which view operators are made of other view operators?

Mirrors: aten/src/ATen/native/TensorShape.cpp
Differs: nothing in substance.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import INTEGRAL, int64
from glasstorch.core.errors import DimensionError, ShapeError
from glasstorch.core.geometry import Shape, infer_size, may_overlap, span, view_strides, wrap_dim
from glasstorch.core.layout import contiguous_format
from glasstorch.operators.composite.creation import arange, empty
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

view = on_tensor("view")
unsafe_view = on_tensor("_unsafe_view")
clone = on_tensor("clone")
permute = on_tensor("permute")
transpose = on_tensor("transpose.int")
expand = on_tensor("expand")
select = on_tensor("select.int")
slice = on_tensor("slice.Tensor")
split = on_tensor("split.Tensor")
as_strided = on_tensor("as_strided")
index_put_ = on_tensor("index_put_")

# Another shape --------------------------------------------------------------------------------------------------


def reshape(self: Tensor, shape: Sequence[int]) -> Tensor:
    """A view where strides can say it, else a view of a row-major copy that nobody else will see."""
    wanted = infer_size(shape, self.numel())
    if self._strides is None or view_strides(self._shape, self._strides, wanted) is not None:
        return view(self, wanted)  # type: ignore[no-any-return]
    return unsafe_view(clone(self, contiguous_format), wanted)  # type: ignore[no-any-return]


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`view` with another tensor's shape."""
    return view(self, other._shape)  # type: ignore[no-any-return]


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`reshape` with another tensor's shape."""
    return reshape(self, other._shape)


def flatten(self: Tensor, start_dim: int, end_dim: int) -> Tensor:
    """Neighbouring dimensions joined into one; the tensor itself where there is nothing to join."""
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


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`expand` to another tensor's shape."""
    return expand(self, other._shape, False)  # type: ignore[no-any-return]


# Another order of dimensions ------------------------------------------------------------------------------------


def numpy_T(self: Tensor) -> Tensor:
    """The dimensions in reverse order; meant for matrices."""
    ndim = len(self._shape)
    if ndim == 0:
        _warn("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif ndim != 2:
        _warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
    return permute(self, range(ndim - 1, -1, -1))  # type: ignore[no-any-return]


def mT(self: Tensor) -> Tensor:
    """The last two dimensions swapped."""
    ndim = len(self._shape)
    if ndim == 1:
        raise ShapeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if ndim == 0:
        _warn("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.")
        return permute(self, ())  # type: ignore[no-any-return]
    return transpose(self, -2, -1)  # type: ignore[no-any-return]


_warned: set[str] = set()


def _warn(message: str) -> None:
    """Warn once in a process, as PyTorch's TORCH_WARN_ONCE does."""
    if message not in _warned:
        _warned.add(message)
        warnings.warn(message, UserWarning, stacklevel=2)


def movedim(self: Tensor, source: Sequence[int], destination: Sequence[int]) -> Tensor:
    """Some dimensions moved to other places; the rest keep their order."""
    if len(source) != len(destination):
        raise ShapeError(
            f"movedim: Invalid source or destination dims: source ({list(source)} dims) should contain the same number "
            f"of dims as destination ({list(destination)} dims)"
        )
    ndim = len(self._shape)
    taken, places = [wrap_dim(d, ndim) for d in source], [wrap_dim(d, ndim) for d in destination]
    for name, dims, given in (("source", taken, source), ("destination", places, destination)):
        if len(set(dims)) != len(dims):
            raise ShapeError(f"movedim: repeated dim in `{name}` ({list(given)})")
    if not ndim:
        return permute(self, ())  # type: ignore[no-any-return]
    order = dict(zip(places, taken, strict=True))
    rest = iter(d for d in range(ndim) if d not in taken)
    return permute(self, [order[d] if d in order else next(rest) for d in range(ndim)])  # type: ignore[no-any-return]


def movedim_int(self: Tensor, source: int, destination: int) -> Tensor:
    """One dimension moved to another place."""
    return movedim(self, [source], [destination])


# Part of the elements -------------------------------------------------------------------------------------------


def narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` indices from `start` on; unlike a slice it refuses what lies outside."""
    if not self._shape:
        raise ShapeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise ShapeError("narrow(): length must be non-negative.")
    dim = wrap_dim(dim, len(self._shape))
    size = self._shape[dim]
    if not -size <= start <= size:
        raise DimensionError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start = start + size if start < 0 else start
    if start + length > size:
        raise ShapeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return slice(self, dim, start, start + length, 1)  # type: ignore[no-any-return]


def narrow_tensor(self: Tensor, dim: int, start: Tensor, length: int) -> Tensor:
    """As `narrow`, from a start that an operator computed."""
    if start._shape or start.dtype.category != INTEGRAL:
        raise ShapeError("start must be an 0-dim integral Tensor.")
    return narrow(self, dim, int(start), length)


def split_sizes(self: Tensor, split_size: Sequence[int], dim: int) -> tuple[Tensor, ...]:
    """Pieces of the given sizes, which add up to the dimension's."""
    if not self._shape:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, len(self._shape))
    pieces = []
    start = 0
    for size in split_size:
        if size < 0:
            raise ShapeError(
                f"split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={list(split_size)}"
            )
        pieces.append((start, start + size))
        start += size
    if start != self._shape[dim]:
        raise ShapeError(
            f"split_with_sizes expects split_sizes to sum exactly to {self._shape[dim]} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={list(split_size)}"
        )
    return tuple(slice(self, dim, first, last, 1) for first, last in pieces)


def chunk(self: Tensor, chunks: int, dim: int) -> tuple[Tensor, ...]:
    """Pieces of one size, at most `chunks` of them; the last may be smaller."""
    if not self._shape:
        raise ShapeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise ShapeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    dim = wrap_dim(dim, len(self._shape))
    size = self._shape[dim]
    if not size:  # pieces of size 0 go on forever; PyTorch gives as many as were asked for
        return tuple(slice(self, dim, 0, 0, 1) for _ in range(chunks))
    return split(self, -(-size // chunks), dim)  # type: ignore[no-any-return]


# Gradients of views ---------------------------------------------------------------------------------------------


def new_zeros(tensor: Tensor, size: Sequence[int]) -> Tensor:
    """Zeros of another size with a tensor's dtype and device."""
    return empty(size, tensor.dtype, None, tensor.device, None, None).zero_()  # type: ignore[no-any-return]


def select_backward(grad_output: Tensor, input_sizes: Sequence[int], dim: int, index: int) -> Tensor:
    """Zeros, with the gradient where `select` looked."""
    result = new_zeros(grad_output, input_sizes)
    select(result, dim, index).copy_(grad_output)
    return result


def slice_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Tensor:
    """Zeros, with the gradient where `slice` looked."""
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
    """Each cell of the storage receives the sum over the places of the view that read it; the input reads its cells.

    Where the input itself shows one cell in several places they share the gradient equally.
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
    return as_strided(storage, input_shape, input_strides, input_offset)  # type: ignore[no-any-return]


def _cells(shape: Shape, strides: Shape, offset: int, cells: int) -> Tensor:
    """The number of the storage cell that each element of a geometry lies in, row by row."""
    numbers = arange(0, cells, 1, int64, None, None, None)
    return reshape(as_strided(numbers, shape, strides, offset), (-1,))
