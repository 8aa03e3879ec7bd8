"""What shape does an indexed tensor have, and which indices are accepted?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (meta functions), IndexingUtils.h (expandTensors),
    ScatterGatherChecks.h
Differs: a mask counts its true elements here; PyTorch replaces it by nonzero's result before it looks at sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from glasstorch.core.dtype import Number, bool_, dtype, int32, int64, uint8
from glasstorch.core.errors import ArgumentError, DimensionError, DtypeError, ShapeError, needs_data
from glasstorch.core.geometry import (
    Shape,
    broadcast_shapes,
    contiguous_strides,
    expand_strides,
    is_expandable_to,
    iterated_strides,
    memory_order,
    strides_like,
    view_strides,
    wrap_dim,
)
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

MASKS = (bool_, uint8)
INTEGERS = (int64, int32)
NO_INDEX = "tensors used as indices must be long, int, byte or bool tensors"

# index, index_put -----------------------------------------------------------------------------------------------


def index(self: Tensor, indices: Sequence[Tensor | None]) -> Result:
    """The indices' broadcast shape in their place, or in front if they are not adjacent; then what is not indexed."""
    plan = plan_of(self._shape, indices)
    return Result(plan.shape, self.dtype, indexed_strides(self, indices, plan))


def index_put(self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> Result:
    """The shape of `self`; the values must broadcast to the shape of `self[indices]`."""
    check_put(self, indices, values, accumulate)
    return like(self)


def check_put(self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> None:
    """Refuse values that do not broadcast to the indexed shape, or whose dtype differs."""
    if not indices:
        raise ArgumentError("index_put_: expected one index or more in `indices`, got an empty list")
    first = indices[0]
    if len(indices) == 1 and first is not None and first.dtype is int64 and values.dtype is self.dtype and self._shape:
        picked = (*first._shape, *self._shape[1:])  # the common case, which needs no plan
        if values._shape in ((), picked):
            return
    if any(tensor is not None and tensor.is_meta and tensor.dtype in MASKS for tensor in indices):
        return  # only data can tell how many elements a mask picks
    shape = plan_of(self._shape, indices).shape
    if fills_mask(indices, values, accumulate):
        check_mask_to_fill(indices)
    elif not is_expandable_to(values._shape, shape):
        raise ShapeError(
            f"shape mismatch: value tensor of shape {list(values._shape)} cannot be broadcast to indexing result of "
            f"shape {list(shape)}"
        )
    elif values.dtype is not self.dtype:
        raise DtypeError(
            f"Index put requires the source and destination dtypes match, got {self.dtype.scalar_name} for the "
            f"destination and {values.dtype.scalar_name} for the source."
        )


def check_mask_to_fill(indices: Sequence[Tensor | None]) -> None:
    """Refuse a uint8 mask: it may select elements to read, but not elements to fill."""
    if any(tensor is not None and tensor.dtype is not bool_ for tensor in indices):
        raise DtypeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")


def fills_mask(indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> bool:
    """Whether the call is a masked_fill: one mask and one value, which is then cast."""
    if accumulate or values.numel() != 1:
        return False
    given = [tensor for tensor in indices if tensor is not None]
    return len(given) == 1 and given[0].dtype in MASKS


def like(self: Tensor) -> Result:
    """The shape, dtype and strides of `self`."""
    strides = self._strides
    return Result(self._shape, self.dtype, None if strides is None else strides_like(self._shape, strides))


def without_leading_ones(shape: Shape) -> Shape:
    """A shape without its leading dimensions of size 1."""
    first = next((i for i, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


class Plan(NamedTuple):
    """Where the sizes of `tensor.index(indices)` come from."""

    shape: Shape  # of the result
    picked: Shape  # the broadcast shape of the indices
    at: int  # the dimension of the result at which `picked` begins
    kept: tuple[int, ...]  # the dimensions of the tensor that are not indexed


def plan_of(shape: Shape, indices: Sequence[Tensor | None]) -> Plan:
    """How `tensor.index(indices)` changes the shape; refuses indices that do not fit."""
    if not indices:
        raise DimensionError("at least one index must be provided")
    picks = picks_of(shape, indices)
    count = max(len(indices), len(picks))  # a 0-dim mask is an index that covers no dimension
    if count > len(shape):
        raise DimensionError(f"too many indices for tensor of dimension {len(shape)} (got {count})")
    given = [d for d, pick in enumerate(picks) if pick is not None]
    shapes = [pick for pick in picks if pick is not None]
    try:
        picked = broadcast_shapes(*shapes)
    except ShapeError:
        raise DimensionError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes "
            f"{', '.join(str(list(s)) for s in shapes)}"
        ) from None
    if not given:
        return Plan(shape, (), 0, tuple(range(len(shape))))
    if 0 not in picked and any(shape[d] == 0 for d in given):
        raise DimensionError("index is out of bounds for dimension with size 0")
    kept = tuple(d for d in range(len(shape)) if d not in given)
    together = given[-1] - given[0] == len(given) - 1
    at = given[0] if together else 0
    rest = [shape[d] for d in kept]
    return Plan((*rest[:at], *picked, *rest[at:]), picked, at, kept)


def indexed_strides(self: Tensor, indices: Sequence[Tensor | None], plan: Plan) -> Shape | None:
    """The result's strides: the order of dimensions follows the tensor, then each index in turn.

    Mirrors: restride_src, reshape_indexer and build_index_op in TensorAdvancedIndexing.cpp
    """
    shape, picked, at, kept = plan
    if 0 not in shape and is_row_major(self, indices):
        return None
    steps = self.strides()
    rest = [steps[d] for d in kept]
    operands = [(*rest[:at], *[0] * len(picked), *rest[at:])]  # along the indices, the tensor itself does not advance
    placed = (*[1] * at, *picked, *[1] * (len(rest) - at))
    for tensor in indices:
        if tensor is not None:
            seen = view_strides(picked, _steps_of_pick(tensor, picked), placed) or contiguous_strides(placed)
            operands.append(tuple(0 if n == 1 != m else step for n, m, step in zip(placed, shape, seen, strict=True)))
    if 0 in shape and placed == shape:
        return None  # TensorIterator finds equal operands; empty ones are row-major
    order = memory_order(operands, shape)
    if order == list(range(len(shape) - 1, -1, -1)):
        return None
    return iterated_strides(shape, order)


def is_row_major(self: Tensor, indices: Sequence[Tensor | None]) -> bool:
    """Whether the tensor and all its indices are known to be row-major."""
    return self._strides is None and all(tensor is None or tensor._strides is None for tensor in indices)


def _steps_of_pick(tensor: Tensor, picked: Shape) -> Shape:
    """The strides of a broadcast index; a mask stands for index vectors."""
    if tensor.dtype not in MASKS:
        steps = expand_strides(tensor._shape, tensor.strides(), picked)
        return steps if tensor.dtype is int64 else strides_like(picked, steps)  # its broadcast view is copied to int64
    return (*[0] * (len(picked) - 1), 1 if picked[-1:] != (1,) else 0) if picked else ()


def picks_of(shape: Shape, indices: Sequence[Tensor | None]) -> list[Shape | None]:
    """The shape of the index of each indexed dimension. A mask indexes as many dimensions as it has."""
    picks: list[Shape | None] = []
    for tensor in indices:
        if tensor is None:
            picks.append(None)
        elif tensor.dtype in MASKS:
            check_mask(shape, len(picks), tensor)
            if tensor.is_meta:
                raise needs_data("nonzero", tensor._shape)  # a mask is replaced by these
            picks += [(int(np.count_nonzero(tensor.host_array())),)] * len(tensor._shape)
        elif tensor.dtype in INTEGERS:
            picks.append(tensor._shape)
        else:
            raise DimensionError(NO_INDEX)
    return picks


def check_mask(shape: Shape, first: int, mask: Tensor) -> None:
    """Refuse a mask whose shape differs from that of the dimensions it indexes, beginning at `first`."""
    for j, size in enumerate(mask._shape):
        at = first + j
        if at >= len(shape) or shape[at] != size:
            raise DimensionError(
                f"The shape of the mask {list(mask._shape)} at index {j} does not match the shape of the "
                f"indexed tensor {list(shape)} at index {at}"
            )


# gather, scatter: one index for each element --------------------------------------------------------------------


def gather(self: Tensor, dim: int, index: Tensor, sparse_grad: bool) -> Result:
    """The shape of the index, which must not exceed the tensor's in any dimension but `dim`."""
    dim = wrap_dim(dim, len(self._shape))
    if 0 not in index._shape:
        _check_integers("gather", index)
        shape, sizes = self._shape or (1,), index._shape or (1,)
        if len(shape) != len(sizes):
            raise ShapeError("Index tensor must have the same number of dimensions as input tensor")
        for d, (have, size) in enumerate(zip(shape, sizes, strict=True)):
            if d != dim and size > have:
                raise ShapeError(
                    f"Size does not match at dimension {d} expected index {list(sizes)} to be no larger than self "
                    f"{list(shape)} apart from dimension {dim}"
                )
    return Result(index._shape, self.dtype, check_out=same_dtype)


def scatter_src(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Result:
    """The shape of `self`; the index must not exceed it, nor the source."""
    dim = wrap_dim(dim, len(self._shape))
    if 0 not in index._shape:
        _check_integers("scatter", index)
    if src.dtype is not self.dtype:
        raise DtypeError("scatter(): Expected self.dtype to be equal to src.dtype")
    _check_scatter(self, dim, index, src)
    return Result(self._shape, self.dtype, check_out=same_dtype)


def scatter_value(self: Tensor, dim: int, index: Tensor, value: Number) -> Result:
    """The shape of `self`; the index must not exceed it."""
    dim = wrap_dim(dim, len(self._shape))
    if 0 not in index._shape:
        _check_integers("scatter", index)
    _check_scatter(self, dim, index, None)
    return Result(self._shape, self.dtype, check_out=same_dtype)


def _check_scatter(self: Tensor, dim: int, index: Tensor, src: Tensor | None) -> None:
    if 0 in index._shape:
        return
    shape, sizes = self._shape or (1,), index._shape or (1,)
    if len(shape) != len(sizes):
        raise ShapeError("Index tensor must have the same number of dimensions as self tensor")
    fits = all(d == dim or size <= have for d, (have, size) in enumerate(zip(shape, sizes, strict=True)))
    against_src = ""
    if src is not None:
        source = src._shape or (1,)
        if fits:
            for d, size in enumerate(sizes):
                fits = fits and size <= source[wrap_dim(d, len(source))]
        if len(source) != len(sizes):
            raise ShapeError("Index tensor must have the same number of dimensions as src tensor")
        against_src = f" and to be no larger size than src {list(src._shape)}"
    if not fits:
        raise ShapeError(
            f"Expected index {list(index._shape)} to be no larger than self {list(self._shape)} apart from dimension "
            f"{dim}{against_src}"
        )


def _check_integers(name: str, index: Tensor) -> None:
    if index.dtype not in INTEGERS:
        raise DtypeError(f"{name}(): Expected dtype int32/int64 for index")


# index_select ---------------------------------------------------------------------------------------------------


def index_select(self: Tensor, dim: int, index: Tensor) -> Result:
    """The shape of `self`, with as many elements along the dimension as there are indices."""
    shape = self._shape
    dim = wrap_dim(dim, len(shape))
    if len(index._shape) > 1:
        raise DimensionError("index_select(): Index is supposed to be a vector")
    if index.dtype not in INTEGERS:
        raise DtypeError("index_select(): Expected dtype int32 or int64 for index")
    count = index.numel()
    if not shape:
        if count != 1:
            raise ShapeError(f"index_select(): Index to scalar can have only 1 value, got {count} value(s)")
        return Result((), self.dtype, check_out=_same_scalar_type)
    return Result((*shape[:dim], count, *shape[dim + 1 :]), self.dtype, check_out=_same_scalar_type)


def _same_scalar_type(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError("index_select(): self and result must have the same scalar type")


# masked_select --------------------------------------------------------------------------------------------------


def masked_select(self: Tensor, mask: Tensor) -> Result:
    """A vector with an element for each true element of the mask, broadcast with the tensor."""
    if mask.dtype is not bool_:
        raise DtypeError("masked_select: expected BoolTensor for mask")
    shape = broadcast_shapes(mask._shape, self._shape)
    if mask.is_meta:
        raise needs_data("masked_select", mask._shape)
    chosen = np.broadcast_to(mask.host_array(), shape)
    return Result((int(np.count_nonzero(chosen)),), self.dtype, check_out=_same_as_selected)


def _same_as_selected(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError("masked_select(): self and result must have the same scalar type")
