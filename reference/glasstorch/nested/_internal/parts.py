"""How is a nested tensor taken apart, padded, and made of padded rows?

Mirrors: torch/nested/_internal/ops.py (values_default, to_padded_tensor_default, _nested_from_padded_tensor_default,
    _nested_view_from_jagged_default, unbind_int, masked_select_default, _nested_get_*)
Differs: padding composes two operators that have derivatives; `_nested_from_padded_tensor` is a function.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.operator import Operator
from glasstorch.nested._internal.nested_tensor import NestedTensor, _nt_view_dummy
from glasstorch.nested._internal.rules import inner, like, rule, run
from glasstorch.nn.functional import pad
from glasstorch.operators.direct import on_tensors

to_padded: Any = on_tensors("_jagged_to_padded_dense_forward")
from_padded: Any = on_tensors("_padded_dense_to_jagged_forward")


@rule(
    "_nested_view_from_jagged",
    "values: t, offsets: t, dummy: jt_all, lengths: t?, ragged_idx: any?, min_seqlen: t?, max_seqlen: t?",
    only_below=True,
)
def _nested_view_from_jagged_default(
    operator: Operator,
    values: Tensor,
    offsets: Tensor,
    dummy: NestedTensor,
    lengths: Tensor | None,
    ragged_idx: int,
    min_seqlen: Tensor | None,
    max_seqlen: Tensor | None,
) -> Any:
    """A nested tensor over the values."""
    ends = {"min_seqlen": min_seqlen, "max_seqlen": max_seqlen}
    cache = {name: length for name, length in ends.items() if length is not None}
    return NestedTensor(values, offsets, lengths=lengths, _ragged_idx=ragged_idx, _metadata_cache=cache)


@rule("_nested_get_values", "self: jt_all", only_below=True)
def values_default(operator: Operator, x: NestedTensor) -> Any:
    """The values without history: autograd's kernel above has recorded where they come from."""
    return x._values.detach()


@rule("_nested_get_offsets", "self: jt_all", only_below=True)
def _nested_get_offsets(operator: Operator, x: NestedTensor) -> Any:
    """Where each sequence begins."""
    return x._offsets


@rule("_nested_get_lengths", "self: jt_all", only_below=True)
def _nested_get_lengths(operator: Operator, x: NestedTensor) -> Any:
    """The lengths, where there are holes."""
    return x._lengths


@rule("_nested_get_ragged_idx", "self: jt_all", only_below=True)
def _nested_get_ragged_idx(operator: Operator, x: NestedTensor) -> Any:
    """The ragged dimension."""
    return x._ragged_idx


@rule("_nested_get_min_seqlen", "self: jt_all", only_below=True)
def _nested_get_min_seqlen(operator: Operator, x: NestedTensor) -> Any:
    """The shortest length, if it is known."""
    return x._metadata_cache.get("min_seqlen")


@rule("_nested_get_max_seqlen", "self: jt_all", only_below=True)
def _nested_get_max_seqlen(operator: Operator, x: NestedTensor) -> Any:
    """The longest length, if it is known."""
    return x._metadata_cache.get("max_seqlen")


@rule("_nested_get_jagged_dummy", "self: any", only_below=True)
def _nested_get_jagged_dummy(operator: Operator, any: Tensor) -> Any:
    """The dummy, whichever nested tensor asks for it."""
    return _nt_view_dummy()


# Padding ------------------------------------------------------------------------------------------------------------


@rule("to_padded_tensor", "self: jt_all, padding: any, output_size: any?")
def to_padded_tensor_default(operator: Operator, x: NestedTensor, padding: float, output_size: Any) -> Any:
    """Each sequence in a row of its own, of one length."""
    if x._lengths is not None:
        raise RuntimeError("to_padded_tensor(): not supported for nested tensors with holes")
    at, values = x._ragged_idx, inner(x)
    if output_size is not None:
        longest = output_size[at]
    else:
        longest = values._shape[0] if x._maybe_max_seqlen is None else x._max_seqlen
    if at > 1:
        values = values.transpose(at - 1, 0)
    padded: Any = to_padded(values, [x._offsets], [longest], padding)
    return padded.transpose(at, 1) if at > 1 else padded


def nested_from_padded(padded: Tensor, x: NestedTensor) -> Any:
    """The rows of a strided tensor as sequences as long as those of a nested tensor."""
    at = x._ragged_idx
    total = x._values._shape[at - 1]
    values: Any = from_padded(padded.transpose(at, 1) if at > 1 else padded, [x._offsets], total)
    return like(x, values.transpose(at - 1, 0) if at > 1 else values)


# Sequences ----------------------------------------------------------------------------------------------------------


@rule("unbind.int", "self: jt_all, dim: any?")
def unbind_int(operator: Operator, x: NestedTensor, dim: int) -> Any:
    """A view of each sequence."""
    if dim != 0:
        raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
    values, along = x.values(), x._ragged_idx - 1
    if x._lengths is None:
        return values.split(x._offsets.diff().tolist(), along)
    limit = values._shape[along]
    places = [*zip(x._offsets.tolist()[:-1], x._lengths.tolist(), strict=True)]
    for start, length in places:
        if start + length > limit:
            raise RuntimeError("unbind(): nested tensor offsets and lengths do not match ragged_idx dimension")
    return tuple(values.narrow(along, start, length) for start, length in places)


@rule("masked_select", "self: jt, mask: any")
def masked_select_default(operator: Operator, x: NestedTensor, mask: Any) -> Any:
    """The elements that a mask picks; a sequence of which none is picked has length 0."""
    if x.ndim > 2:
        raise RuntimeError("masked_select only support 2-D selections currently")
    if x.shape != mask.shape:
        raise RuntimeError(f"Mask with shape {mask.shape} is not compatible with input's shape {x.shape}")
    picked = pad(mask.values().cumsum(0), (1, 0))
    return like(x, run(operator, inner(x), mask.values()), offsets=picked[x._offsets])
