"""How does a view operator compute its geometry without touching an element?

Mirrors: aten/src/ATen/native/TensorShape.cpp, TensorConversions.cpp (view_dtype)
Differs: one kernel for every backend. A view operator is arithmetic on sizes, strides and offset, and the new tensor
    shares the storage; the ADInplaceOrView kernels, one key higher, record which tensor is a view of which.

Strides None are row-major (see Note [Storage and geometry are the truth]). Kernels keep them None where the view is
row-major too, so that strides are computed only when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from glasstorch._tensor import Tensor, make_view, make_view_as
from glasstorch.core import geometry, inference
from glasstorch.core.dtype import dtype, float16, float32, float64, int8, int16, int32, int64, uint8
from glasstorch.core.errors import DimensionError, ShapeError, StorageError
from glasstorch.core.geometry import (
    Shape,
    contiguous_strides,
    existing_dim,
    expand_strides,
    infer_size,
    permutation,
    slice_bounds,
    view_strides,
    wrap_dim,
    wrap_dims,
)
from glasstorch.core.keys import KEYS_OF_DEVICE
from glasstorch.core.tensor_impl import check_fits
from glasstorch.dispatch.library import KernelTable

EVERY_BACKEND = KernelTable("CompositeExplicitAutograd")


@EVERY_BACKEND.impl("lift_fresh")
def lift_fresh(keys: int, self: Tensor) -> Tensor:
    """The tensor itself, not a view of it."""
    return self


@EVERY_BACKEND.impl("alias", "detach")
def alias(keys: int, self: Tensor) -> Tensor:
    """A view of the whole tensor."""
    return make_view(self, self._shape, self._strides, self._offset)


# Another shape --------------------------------------------------------------------------------------------------


@EVERY_BACKEND.impl("view", "_unsafe_view")
def view(keys: int, self: Tensor, size: Sequence[int]) -> Tensor:
    """The elements in row-major order under another shape, where strides can express it."""
    shape = infer_size(size, self.numel())
    if self._strides is None:
        return make_view(self, shape, None, self._offset)
    strides = view_strides(self._shape, self._strides, shape)
    if strides is None:
        raise ShapeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return make_view(self, shape, strides, self._offset)


@EVERY_BACKEND.impl("_reshape_alias")
def reshape_alias(keys: int, self: Tensor, size: Sequence[int], stride: Sequence[int]) -> Tensor:
    """The storage under sizes and strides that the caller has computed."""
    return make_view(self, tuple(size), tuple(stride), self._offset)


@EVERY_BACKEND.impl("squeeze")
def squeeze(keys: int, self: Tensor) -> Tensor:
    """A view without dimensions of size 1."""
    return _without(self, [dim for dim, size in enumerate(self._shape) if size == 1])


@EVERY_BACKEND.impl("squeeze.dim")
def squeeze_dim(keys: int, self: Tensor, dim: int) -> Tensor:
    """A view without one dimension, if its size is 1."""
    dim = wrap_dim(dim, len(self._shape))
    return _without(self, [dim] if self._shape and self._shape[dim] == 1 else [])


@EVERY_BACKEND.impl("squeeze.dims")
def squeeze_dims(keys: int, self: Tensor, dims: Sequence[int]) -> Tensor:
    """A view without those of the dimensions whose size is 1."""
    wrapped = wrap_dims(dims, len(self._shape))
    return _without(self, [dim for dim in wrapped if self._shape and self._shape[dim] == 1])


def _without(self: Tensor, dims: Sequence[int]) -> Tensor:
    """A view without some dimensions of size 1; the other strides do not change, and row-major stays row-major."""
    shape = tuple(size for dim, size in enumerate(self._shape) if dim not in dims)
    strides = self._strides
    if strides is not None:
        strides = tuple(stride for dim, stride in enumerate(strides) if dim not in dims)
    return make_view(self, shape, strides, self._offset)


@EVERY_BACKEND.impl("unsqueeze")
def unsqueeze(keys: int, self: Tensor, dim: int) -> Tensor:
    """A view with a dimension of size 1 inserted; its stride is the size times the stride of the next dimension."""
    shape = self._shape
    dim = wrap_dim(dim, len(shape) + 1)
    unsqueezed = (*shape[:dim], 1, *shape[dim:])
    if self._strides is None and 0 not in shape:
        return make_view(self, unsqueezed, None, self._offset)
    strides = self.strides()
    step = shape[dim] * strides[dim] if dim < len(shape) else 1
    return make_view(self, unsqueezed, (*strides[:dim], step, *strides[dim:]), self._offset)


@EVERY_BACKEND.impl("expand")
def expand(keys: int, self: Tensor, size: Sequence[int], implicit: bool) -> Tensor:
    """Dimensions of size 1 repeated with stride 0; -1 keeps a size."""
    shape, strides = self._shape, self.strides()
    added = len(size) - len(shape)
    if added < 0:
        raise ShapeError(
            f"expand({_type_of(self)}{{{list(shape)}}}, size={list(size)}): the number of sizes "
            f"provided ({len(size)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    if -1 in size[:added]:
        raise ShapeError(
            f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {size.index(-1)}"
        )
    target = tuple(size)
    if -1 in target:
        target = tuple(shape[dim - added] if wanted == -1 else wanted for dim, wanted in enumerate(size))
    seen = expand_strides(shape, strides, target)
    if {int}.issuperset(map(type, target)) and prod(target) >= 1 << 63:
        raise ShapeError("numel: integer multiplication overflow")
    return make_view(self, target, seen, self._offset)


# The dtypes with legacy tensor classes, such as torch.FloatTensor.
OLD = frozenset((float16, float32, float64, uint8, int8, int16, int32, int64))


def _type_of(self: Tensor) -> str:
    """A tensor's type as PyTorch's messages write it: `torch.FloatTensor`, `CPUBoolType`."""
    on, name = self.device.type, self.dtype.scalar_name
    if on == "meta" or self.dtype not in OLD:
        return f"{'Meta' if on == 'meta' else on.upper()}{name}Type"
    return f"torch.{'' if on == 'cpu' else on + '.'}{name}Tensor"


# Another order of dimensions ------------------------------------------------------------------------------------


@EVERY_BACKEND.impl("transpose.int")
def transpose(keys: int, self: Tensor, dim0: int, dim1: int) -> Tensor:  # hot path: benchmarks/eager.py
    """Two dimensions swapped."""
    shape = self._shape
    ndim = len(shape)
    if not (0 <= dim0 < ndim and 0 <= dim1 < ndim):
        dim0, dim1 = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    if dim0 == dim1:
        return make_view(self, shape, self._strides, self._offset)
    strides = self._strides
    if strides is None:
        strides = contiguous_strides(shape)
    if ndim == 2:
        view = make_view(self, (shape[1], shape[0]), (strides[1], strides[0]), self._offset)
        array = self._array
        if array is not None and self._generation == view._generation:
            view._array = array.T  # a tenth of what the same costs from the storage
        return view
    sizes, steps = list(shape), list(strides)
    sizes[dim0], sizes[dim1] = shape[dim1], shape[dim0]
    steps[dim0], steps[dim1] = strides[dim1], strides[dim0]
    return make_view(self, tuple(sizes), tuple(steps), self._offset)


@EVERY_BACKEND.impl("t")
def t(keys: int, self: Tensor) -> Tensor:
    """A matrix with its dimensions swapped; a tensor with fewer dimensions is returned as a view."""
    ndim = len(self._shape)
    if ndim > 2:
        raise ShapeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return transpose(keys, self, 0, 1) if ndim == 2 else alias(keys, self)


@EVERY_BACKEND.impl("permute")
def permute(keys: int, self: Tensor, dims: Sequence[int]) -> Tensor:
    """The dimensions in another order."""
    shape, strides = self._shape, self.strides()
    order = permutation(tuple(dims), len(shape))
    return make_view(self, tuple([shape[d] for d in order]), tuple([strides[d] for d in order]), self._offset)


# Part of the elements -------------------------------------------------------------------------------------------


@EVERY_BACKEND.impl("select.int")
def select(keys: int, self: Tensor, dim: int, index: int) -> Tensor:  # hot path: benchmarks/dataloader.py
    """One index along a dimension; the dimension disappears."""
    shape = self._shape
    if not 0 <= dim < len(shape):
        if not shape:
            raise DimensionError("select() cannot be applied to a 0-dim tensor.")
        dim = wrap_dim(dim, len(shape))
    size = shape[dim]
    if not -size <= index < size:
        raise DimensionError(
            f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {dim}"
        )
    index = index + size if index < 0 else index
    strides = self._strides or contiguous_strides(shape)
    offset = self._offset + index * strides[dim]
    if dim == 0:
        return make_view(self, shape[1:], None if self._strides is None else strides[1:], offset)
    return make_view(self, shape[:dim] + shape[dim + 1 :], strides[:dim] + strides[dim + 1 :], offset)


@EVERY_BACKEND.impl("slice.Tensor")
def slice(  # hot path: benchmarks/eager.py
    keys: int, self: Tensor, dim: int, start: Any, end: Any, step: int
) -> Tensor:
    """Every `step`-th index from `start` up to `end`; negative ones count from the end, and both are clamped."""
    shape = self._shape
    if not 0 <= dim < len(shape):
        if not shape:
            raise DimensionError("slice() cannot be applied to a 0-dim tensor.")
        dim = wrap_dim(dim, len(shape))
    if step <= 0:
        raise ShapeError("slice step must be positive")
    size = shape[dim]
    first, last = 0 if start is None else start, size if end is None else end
    if not 0 <= first <= last <= size:
        first, last = slice_bounds(size, start, end)
    length = last - first if step == 1 else (last - first + step - 1) // step
    strides = self._strides or contiguous_strides(shape)
    offset = self._offset + first * strides[dim]
    sliced = (length, *shape[1:]) if dim == 0 else (*shape[:dim], length, *shape[dim + 1 :])
    if step == 1:
        stays = self._strides is None and (dim == 0 or length == size)
        return make_view(self, sliced, None if stays else strides, offset)
    return make_view(self, sliced, (*strides[:dim], strides[dim] * step, *strides[dim + 1 :]), offset)


@EVERY_BACKEND.impl("diagonal")
def diagonal(keys: int, self: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """A diagonal of two dimensions, put last: stepping along it steps along both."""
    shape, strides = self._shape, self.strides()
    row, column = wrap_dim(dim1, len(shape)), wrap_dim(dim2, len(shape))
    if row == column:
        raise ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    down, right = max(-offset, 0), max(offset, 0)
    length = geometry.at_least_0(geometry.lesser(shape[row] - down, shape[column] - right))
    start = self._offset + (down * strides[row] + right * strides[column] if length else 0)
    kept = [dim for dim in range(len(shape)) if dim not in (row, column)]
    return make_view(
        self,
        (*(shape[dim] for dim in kept), length),
        (*(strides[dim] for dim in kept), strides[row] + strides[column]),
        start,
    )


@EVERY_BACKEND.impl("unfold")
def unfold(keys: int, self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of a size along a dimension; the window becomes the last dimension."""
    shape, strides = self._shape, self.strides()
    dim = wrap_dim(dimension, len(shape))
    have = shape[dim] if shape else 1
    if size < 0:
        raise ShapeError(f"size is {size} but must be >= 0")
    if size > have:
        raise ShapeError(f"maximum size for tensor at dimension {dim} is {have} but size is {size}")
    if step <= 0:
        raise ShapeError(f"step is {step} but must be > 0")
    windows, steps = list(shape), list(strides)
    if shape:
        windows[dim] = (have - size) // step + 1
        steps[dim] *= step
    return make_view(self, (*windows, size), (*steps, strides[dim] if shape else 1), self._offset)


@EVERY_BACKEND.impl("as_strided")
def as_strided(
    keys: int, self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Tensor:
    """Any geometry that stays inside the storage."""
    if len(size) != len(stride):
        raise ShapeError("mismatch in length of strides and shape")
    shape, strides = tuple(size), tuple(stride)
    offset = self._offset if storage_offset is None else storage_offset
    if any(length < 0 for length in shape):
        raise StorageError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    check_fits(self.untyped_storage(), self.dtype, shape, strides, offset)
    return make_view(self, shape, strides, offset)


# The same bytes as another dtype --------------------------------------------------------------------------------


@EVERY_BACKEND.impl("view.dtype")
def view_dtype(keys: int, self: Tensor, dtype: dtype) -> Tensor:
    """The bytes read as another dtype; the last dimension grows or shrinks with the ratio of the item sizes.

    No gradient flows between them, and the result takes after the mode: outside of inference mode it is a normal
    tensor, inside an inference tensor.
    """
    for bit, kind in ((self.is_conj(), "conjugate view tensors"), (self.is_neg(), "tensors with negative bit set")):
        if bit:
            raise ShapeError(f"torch.Tensor.view is not supported for {kind} when converting to a different dtype.")
    shape, strides, offset = self._shape, self._strides, self._offset
    old, new = self.dtype.itemsize, dtype.itemsize
    if old == new:
        return read_as(self, dtype, shape, strides, offset)
    names = f"{self.dtype.scalar_name} as {dtype.scalar_name} (different element sizes)"
    if not shape:
        raise ShapeError(f"self.dim() cannot be 0 to view {names}")
    steps = self.strides()

    def check_step() -> None:
        if steps[-1] != 1:
            raise ShapeError(f"self.stride(-1) must be 1 to view {names}, but got {steps[-1]}")

    if old > new:
        check_step()
        ratio = old // new
        split = None if strides is None and shape[-1] else (*(step * ratio for step in steps[:-1]), 1)
        return read_as(self, dtype, (*shape[:-1], shape[-1] * ratio), split, offset * ratio)
    ratio = new // old
    for what, value in (("size(-1)", shape[-1]), ("storage_offset()", offset)):
        if value % ratio:
            raise ShapeError(f"self.{what} must be divisible by {ratio} to view {names}, but got {value}")
    check_step()
    for dim, step in enumerate(steps[:-1]):
        if step % ratio:
            raise ShapeError(f"self.stride({dim}) must be divisible by {ratio} to view {names}, but got {step}")
    joined = None if strides is None and shape[-1] else (*(step // ratio for step in steps[:-1]), 1)
    return read_as(self, dtype, (*shape[:-1], shape[-1] // ratio), joined, offset // ratio)


def read_as(self: Tensor, dtype: dtype, shape: Shape, strides: Shape | None, offset: int) -> Tensor:
    """The memory with another dtype and geometry, as a normal tensor or one of inference mode, as the mode says."""
    made = make_view_as(self, dtype, shape, strides, offset)
    if inference.entered:
        made.key_set = inference.keys_of_new(made.key_set | KEYS_OF_DEVICE[self.device.type])
    return made


# Several views --------------------------------------------------------------------------------------------------


@EVERY_BACKEND.impl("unbind.int")
def unbind(keys: int, self: Tensor, dim: int) -> tuple[Tensor, ...]:
    """One view for each index along a dimension."""
    shape = self._shape
    dim = existing_dim(dim, len(shape))
    strides = self.strides()
    rest = shape[:dim] + shape[dim + 1 :]
    steps = None if dim == 0 and self._strides is None else strides[:dim] + strides[dim + 1 :]
    return tuple(make_view(self, rest, steps, self._offset + i * strides[dim]) for i in range(shape[dim]))


@EVERY_BACKEND.impl("split.Tensor")
def split(keys: int, self: Tensor, split_size: int, dim: int) -> tuple[Tensor, ...]:
    """Pieces of one size along a dimension; the last may be smaller."""
    shape = self._shape
    if not shape:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise ShapeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    dim = wrap_dim(dim, len(shape))
    size = shape[dim]
    if split_size == 0 and size:
        raise ShapeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    if type(size) is int and type(split_size) is int:
        starts = range(0, size, split_size) if size else range(1)  # an empty dimension gives one piece
        return tuple(slice(keys, self, dim, start, start + split_size, 1) for start in starts)
    count = int((size + split_size - 1) // split_size)  # a guard says how many there are
    ends = [i * split_size for i in range(1, count)]
    return split_with_sizes(keys, self, [split_size] * len(ends) + [size - split_size * len(ends)], dim)


@EVERY_BACKEND.impl("split_with_sizes")
def split_with_sizes(keys: int, self: Tensor, split_sizes: Sequence[int], dim: int) -> tuple[Tensor, ...]:
    """Consecutive pieces of the given sizes, which add up to the dimension's."""
    if not self._shape:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, len(self._shape))
    pieces = []
    start = 0
    for size in split_sizes:
        if size < 0:
            raise ShapeError(
                f"split_with_sizes expects split_sizes have only non-negative entries, but got "
                f"split_sizes={list(split_sizes)}"
            )
        pieces.append((start, start + size))
        start += size
    if start != self._shape[dim]:
        raise ShapeError(
            f"split_with_sizes expects split_sizes to sum exactly to {self._shape[dim]} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={list(split_sizes)}"
        )
    if {int}.issuperset(map(type, (start, *split_sizes))):
        return tuple(slice(keys, self, dim, first, last, 1) for first, last in pieces)
    return tuple(narrowed(self, dim, first, size) for (first, _), size in zip(pieces, split_sizes, strict=True))


def narrowed(self: Tensor, dim: int, first: int, length: int) -> Tensor:
    """A part of a dimension that is known to lie in it."""
    shape, strides = self._shape, self.strides()
    return make_view(self, (*shape[:dim], length, *shape[dim + 1 :]), strides, self._offset + first * strides[dim])


# The tensor itself ----------------------------------------------------------------------------------------------


def geometry_in_place(kernel: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The in-place form of a view operator, which changes the tensor's own geometry."""

    def in_place(keys: int, self: Tensor, *arguments: Any) -> Tensor:
        try:
            seen = kernel(keys, self, *arguments)
        except ShapeError as error:
            raise ShapeError(str(error).replace("t() expects", "t_() expects")) from None
        self.set_geometry(seen._shape, seen._strides, seen._offset)
        return self

    return in_place


IN_PLACE: dict[str, Callable[..., Tensor]] = {
    "transpose_": transpose,
    "t_": t,
    "squeeze_": squeeze,
    "squeeze_.dim": squeeze_dim,
    "squeeze_.dims": squeeze_dims,
    "unsqueeze_": unsqueeze,
    "as_strided_": as_strided,
}
for _name, _kernel in IN_PLACE.items():
    EVERY_BACKEND.add(_name, geometry_in_place(_kernel))
