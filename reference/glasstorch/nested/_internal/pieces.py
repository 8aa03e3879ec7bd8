"""How are pieces of a nested tensor taken, and nested tensors joined?

Mirrors: torch/nested/_internal/ops.py (select_int, slice_tensor, narrow, split_tensor, split_with_sizes_default,
    chunk_default, cat_default, stack_default)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch.dispatch.operator import Operator
from glasstorch.nested._internal.nested_tensor import NestedTensor
from glasstorch.nested._internal.rules import (
    dense_dim,
    dim_of_values,
    inner,
    inner_dim,
    like,
    nested_of,
    raggedness_matches,
    rule,
    run,
    viewed,
)
from glasstorch.nn.functional import pad


@rule("select.int", "self: jt_all, dim: any, index: any")
def select_int(operator: Operator, x: NestedTensor, dim: int, index: int) -> Any:
    """One sequence, or one index along a dimension that is not ragged."""
    at = x._ragged_idx
    place = dense_dim(len(x._size), dim, at, "select", batch=True)
    if place == 0:
        return x.unbind()[index]
    if x._lengths is not None:
        raise ValueError("select(): not yet supported on dim != 0 for non-contiguous nested tensor with holes")
    along = inner_dim(place, at)
    return viewed(x, run(operator, inner(x), along, index), ragged_idx=at - (along < at - 1))


@rule("slice.Tensor", "self: jt, dim: any?, start: any?, end: any?, step: any?")
def slice_tensor(operator: Operator, x: NestedTensor, dim: int, *limits: Any) -> Any:
    """Some indices along a dimension that is neither the batch nor ragged."""
    return viewed(x, run(operator, inner(x), dim_of_values(x, dim, "slice"), *limits))


@rule("narrow", "self: jt, dim: any, start: any, length: any")
def narrow(operator: Operator, x: NestedTensor, dim: int, start: int, length: int) -> Any:
    """The same, by a start and a length."""
    return viewed(x, run(operator, inner(x), dim_of_values(x, dim, "narrow"), start, length))


@rule("split.Tensor", "self: jt, split_size: any, dim: any?")
def split_tensor(operator: Operator, x: NestedTensor, size: int, dim: int) -> Any:
    """Pieces of a size along a dimension that is neither the batch nor ragged."""
    pieces = run(operator, inner(x), size, dim_of_values(x, dim, "split"))
    return tuple(viewed(x, piece) for piece in pieces)


@rule("split_with_sizes", "self: jt, split_sizes: any, dim: any?")
def split_with_sizes_default(operator: Operator, x: NestedTensor, sizes: Sequence[int], dim: int) -> Any:
    """Pieces of several sizes."""
    pieces = run(operator, inner(x), sizes, dim_of_values(x, dim, "split_with_sizes"))
    return tuple(viewed(x, piece) for piece in pieces)


@rule("chunk", "self: jt, chunks: any, dim: any?")
def chunk_default(operator: Operator, x: NestedTensor, chunks: int, dim: int) -> Any:
    """So many pieces, of the batch too: those are nested tensors of sequences of their own."""
    place = dense_dim(len(x._size), dim, x._ragged_idx, "chunk", batch=True)
    if place != 0:
        pieces = run(operator, inner(x), chunks, inner_dim(place, x._ragged_idx))
        return tuple(viewed(x, piece) for piece in pieces)
    lengths = x._offsets.diff().chunk(chunks)
    offsets = [pad(some.cumsum(0), (1, 0), value=0) for some in lengths]
    pieces = inner(x).split([int(some.sum()) for some in lengths])
    return tuple(nested_of(*parts) for parts in zip(pieces, offsets, strict=True))


@rule("cat", "tensors: any, dim: any?")
def cat_default(operator: Operator, tensors: Sequence[Any], dim: int) -> Any:
    """Joined along a dimension that is neither the batch nor ragged; strided tensors are expanded."""
    first = next(t for t in tensors if t.is_nested)
    nested = [t if t.is_nested else t.expand_as(first) for t in tensors]
    along = dim_of_values(first, dim, "cat")
    return like(nested[0], run(operator, [inner(t) for t in nested], along))


@rule("stack", "tensors: any, dim: any?")
def stack_default(operator: Operator, tensors: Sequence[Any], dim: int) -> Any:
    """Joined along a new dimension."""
    first = tensors[0]
    for t in tensors:
        if not isinstance(t, NestedTensor):
            raise RuntimeError("stack(): expected all nested tensors inputs")
        if t.dim() != first.dim():
            raise RuntimeError("stack(): expected all nested tensors to have the same dim")
        if not raggedness_matches(t, first.shape):
            raise RuntimeError("stack(): expected all nested tensors to have the same nested structure")
    along = inner_dim(dense_dim(first.dim() + 1, dim, first._ragged_idx, "stack"), first._ragged_idx)
    return like(first, run(operator, [inner(t) for t in tensors], along))
