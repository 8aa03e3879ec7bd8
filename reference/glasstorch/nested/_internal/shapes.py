"""How are the dimensions of a nested tensor exchanged, split, merged and added?

Mirrors: torch/nested/_internal/ops.py (transpose_int, permute_default, view_default, unsqueeze_default, squeeze_dim,
    expand_default, expand_as_default, broadcast_to, jagged_torch_function (flatten))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import infer_size, wrap_dim
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.nested._internal.nested_tensor import NestedTensor
from glasstorch.nested._internal.rules import (
    dense_dim,
    dim_of_values,
    inner,
    inner_dim,
    raggedness_matches,
    rule,
    run,
    viewed,
)


@rule("transpose.int", "self: jt_all, dim0: any, dim1: any")
def transpose_int(operator: Operator, x: NestedTensor, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged, of which one may be the ragged one, and none the batch."""
    ndim, at = len(x._size), x._ragged_idx
    a, b = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    if at in (a, b):
        if 0 in (a, b):
            raise ValueError("Transpose is not supported on the batch dimension for jagged NT")
        swapped = inner(x).transpose(inner_dim(a, at), inner_dim(b, at))
        return viewed(x, swapped, ragged_idx=b if a == at else a)
    dims = [dim_of_values(x, dim, "transpose") for dim in (a, b)]
    return viewed(x, run(operator, inner(x), *dims))


@rule("permute", "self: jt_all, dims: any")
def permute_default(operator: Operator, x: NestedTensor, dims: Sequence[int]) -> Any:
    """The dimensions in another order, the batch first."""
    ndim, at = len(x._size), x._ragged_idx
    if ndim != len(dims):
        raise ValueError(
            f"permute(): number of dimensions in the tensor input ({ndim}) does not match the length of the desired "
            f"ordering of dimensions ({len(dims)})."
        )
    order = [wrap_dim(dim, ndim) for dim in dims]
    if len(order) != len({*order}):
        raise ValueError("permute(): duplicate dims are not allowed.")
    if x._lengths is not None:
        raise ValueError("permute(): not supported on jagged layout nested tensor with holes")
    if order[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    values = run(operator, inner(x), [inner_dim(dim, at) for dim in order[1:]])
    return viewed(x, values, ragged_idx=order.index(at))


@rule("view _unsafe_view reshape", "self: jt_all, size: any")
def view_default(operator: Operator, x: NestedTensor, size: Sequence[Any]) -> Any:
    """Other sizes after the batch and the ragged one."""
    sizes = _inferred(x, size)
    if x._ragged_idx != 1 and x._size != tuple(sizes):
        raise RuntimeError(
            f"view(): does not support ragged_idx != 1 except when inp._size == size. inp._size is ({x._size}) and "
            f"size is ({[*size]})."
        )
    if len(sizes) < 3 or not raggedness_matches(x, sizes):
        raise RuntimeError(f"view(): cannot view shape {x._size} as {[*size]}")
    at = x._ragged_idx
    packed = [*sizes[1:at], x._values._shape[at - 1], *sizes[at + 1 :]]
    return viewed(x, run(operator, inner(x), packed))


@rule("reshape_as", "self: jt_all, other: jt_all")
def reshape_as_default(operator: Operator, x: NestedTensor, other: NestedTensor) -> Any:
    """The sizes of another nested tensor."""
    return view_default(_reshape, x, other._size)


def _inferred(x: NestedTensor, size: Sequence[Any]) -> list[Any]:
    """The sizes; -1 behind the ragged one, or in its place, stands for what is left."""
    sizes, at = [*size], x._ragged_idx
    behind = [n for n in sizes[at + 1 :] if not isinstance(n, int) or n != -1]
    if len(sizes) > at and -1 in sizes[at + 1 :] and all(isinstance(n, int) for n in behind):
        sizes[at + 1 :] = infer_size(sizes[at + 1 :], math.prod(x._size[at + 1 :]))
    return sizes


@rule("flatten.using_ints", "self: jt_all, start_dim: any, end_dim: any")
def flatten(operator: Operator, x: NestedTensor, start_dim: int, end_dim: int) -> Any:
    """Some dimensions as one, none of which is the batch or the ragged one."""
    start, end = (dense_dim(len(x._size), dim, x._ragged_idx, "flatten") for dim in (start_dim, end_dim))
    if start == end:
        return x
    product: Any = 1
    for size in x._size[start : end + 1]:
        product = size * product
    return view_default(_reshape, x, [*x._size[:start], product, *x._size[end + 1 :]])


_reshape = registry.find("aten::reshape")


@rule("unflatten.int", "self: jt_all, dim: any, sizes: any")
def unflatten(operator: Operator, x: NestedTensor, dim: int, sizes: Sequence[int]) -> Any:
    """One dimension, which is neither the batch nor the ragged one, as several."""
    at = wrap_dim(dim, len(x._size))
    if -1 not in sizes and math.prod(sizes) != x._size[at]:
        raise RuntimeError(
            f"unflatten: Provided sizes {[*sizes]} don't multiply up to the size of dim {at} ({x._size[at]}) in the "
            "input tensor"
        )
    if at in (0, x._ragged_idx):
        return view_default(_reshape, x, [*x._size[:at], *sizes, *x._size[at + 1 :]])
    values = run(operator, inner(x), inner_dim(at, x._ragged_idx), sizes)
    return viewed(x, values, ragged_idx=x._ragged_idx + (len(sizes) - 1 if at < x._ragged_idx else 0))


@rule("unsqueeze", "self: jt_all, dim: any")
def unsqueeze_default(operator: Operator, x: NestedTensor, dim: int) -> Any:
    """A dimension of size 1 more, not before the batch."""
    at = x._ragged_idx
    place = inner_dim(dense_dim(len(x._size) + 1, dim, at, "unsqueeze", ragged=True), at)
    return viewed(x, run(operator, inner(x), place), ragged_idx=at + (place <= at - 1))


@rule("squeeze.dim", "self: jt, dim: any")
def squeeze_dim(operator: Operator, x: NestedTensor, dim: int) -> Any:
    """The same without a dimension of size 1."""
    return viewed(x, run(operator, inner(x), dim_of_values(x, dim, "squeeze")))


@rule("expand", "self: jt_all, size: any, implicit: any?")
def expand_default(operator: Operator, x: NestedTensor, size: Sequence[Any], implicit: bool) -> Any:
    """Dimensions of size 1 repeated."""
    if not raggedness_matches(x, size):
        raise RuntimeError(f"expand(): cannot expand shape {x._size} -> {[*size]}")
    sizes = [-1 if d == x._ragged_idx else size[d] for d in range(1, x.dim())]
    return viewed(x, run(operator, inner(x), sizes, implicit))


@rule("expand_as", "self: any, other: jt")
def expand_as_default(operator: Operator, x: Tensor, other: NestedTensor) -> Any:
    """Expanded to the sizes of a nested tensor; a strided one is repeated for each element of the sequences."""
    return x.expand(other.shape) if isinstance(x, NestedTensor) else viewed(other, x.expand_as(other._values))


@rule("broadcast_to", "self: jt_all, size: any")
def broadcast_to(operator: Operator, x: NestedTensor, size: Sequence[Any]) -> Any:
    """As expand, by the rules of broadcasting."""
    if len(size) > x.dim():
        raise ValueError(
            "broadcast_to(): broadcasting to a higher-dim shape is currently not supported for nested tensors with the "
            "jagged layout"
        )
    return x.expand([*(1 for _ in range(x.dim() - len(size))), *size])
