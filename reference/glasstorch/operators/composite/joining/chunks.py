"""How are the chunks of several tensors joined, the first of each, then the second?

Mirrors: aten/src/ATen/native/TensorShape.cpp (_chunk_cat)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.errors import DeviceError, DtypeError, ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.operators.direct import on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

cat = on_tensors("cat")
pad = on_tensor("constant_pad_nd")
reshape = on_tensor("reshape")


def _chunk_cat(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> Tensor:
    """Each tensor cut into so many chunks along a dimension, each chunk flattened from there, and those joined.

    Zeros make the size of a dimension divisible. The sizes before it stay: (*before, num_chunks, all that is joined).
    """
    dim = _checked(tensors, dim, num_chunks)
    chunks = []
    for tensor in tensors:
        shape = tensor._shape
        missing = -shape[dim] % num_chunks
        padded = pad(tensor, [0] * 2 * (len(shape) - dim - 1) + [0, missing], 0) if missing else tensor
        width = (shape[dim] + missing) // num_chunks * prod(shape[dim + 1 :])
        chunks.append(reshape(padded, (*shape[:dim], num_chunks, width)))
    joined: Tensor = cat(chunks, dim + 1)
    return joined


def _checked(tensors: Sequence[Tensor], dim: int, num_chunks: int) -> int:
    """The dimension counted from the front, of tensors that agree in the sizes before it."""
    if num_chunks < 1:
        raise ShapeError("_chunk_cat expects positive num_chunks")
    if not tensors:
        raise ShapeError("_chunk_cat expects a non-empty input tensor list")
    first = tensors[0]
    dim = wrap_dim(dim, len(first._shape))
    for tensor in tensors:
        if not tensor.numel():
            raise ShapeError("_chunk_cat expects non-empty tensor")
        if tensor.dtype is not first.dtype:
            raise DtypeError("_chunk_cat expects all input tensors with the same dtype")
        if tensor.device is not first.device:
            raise DeviceError("_chunk_cat expects all inputs tensors on the same device")
        if dim >= len(tensor._shape):
            raise ShapeError("_chunk_cat expects dim < ndim for all input tensors")
        if tensor._shape[:dim] != first._shape[:dim]:
            raise ShapeError("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    return dim
