"""What shape and dtype does a joined tensor have?

Mirrors: aten/src/ATen/native/TensorShape.cpp (TORCH_PRECOMPUTE_META_FUNC(cat)), aten/src/ATen/WrapDimUtils.h
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import can_cast, dtype, promote_types
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from glasstorch.core.geometry import Shape, channels_last_strides, looks_channels_last, wrap_dim
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def cat(tensors: Sequence[Tensor], dim: int) -> Result:
    """Sizes add up along the joined dimension and must be equal elsewhere. Empty vectors are skipped."""
    if not tensors:
        raise ArgumentValueError("torch.cat(): expected a non-empty list of Tensors")
    dtype = joined_dtype(tensors)
    first: Shape | None = None
    length = 0
    for i, tensor in enumerate(tensors):
        shape = tensor._shape
        if not shape:
            raise ShapeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        if shape == (0,):
            continue
        if first is None:
            first = shape
            dim = wrap_dim(dim, len(shape))
        elif shape != first:
            _check_fits(first, shape, dim, i)
        length += shape[dim]
    if first is None:
        return Result((0,), dtype, check_out=_check_out)
    shape = (*first[:dim], length, *first[dim + 1 :])
    strides = channels_last_strides(shape) if _all_channels_last(tensors) else None
    return Result(shape, dtype, strides, _check_out)


def _check_out(result: dtype, out: dtype) -> None:
    """The out= rule of most operators, except that PyTorch raises a TypeError here."""
    if not can_cast(result, out):
        raise ArgumentTypeError(f"torch.cat(): input types can't be cast to the desired output type {out.scalar_name}")


def joined_dtype(tensors: Sequence[Tensor]) -> dtype:
    """The common dtype of all tensors, including those that are skipped."""
    dtype = tensors[0].dtype
    for tensor in tensors:
        if tensor.dtype is not dtype:
            dtype = promote_types(dtype, tensor.dtype)
    return dtype


def _check_fits(first: Shape, shape: Shape, dim: int, position: int) -> None:
    if len(first) != len(shape):
        raise ShapeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
    for d, (expected, size) in enumerate(zip(first, shape, strict=True)):
        if d != dim and expected != size:
            raise ShapeError(
                f"Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size {size} "
                f"for tensor number {position} in the list."
            )


def _all_channels_last(tensors: Sequence[Tensor]) -> bool:
    return all(t._strides is not None and looks_channels_last(t._shape, t._strides) for t in tensors)
