"""How do the elements of each sequence attend to each other, and to no other sequence?

Mirrors: torch/nested/_internal/sdpa.py (jagged_scaled_dot_product_attention, _validate_sdpa_input,
    _can_use_math_sdpa_jagged)
Differs: one sequence after the other, as PyTorch's kernel for the CPU computes; there is no fused kernel that takes
    offsets. As there, the CPU refuses `is_causal` and values that are not contiguous.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.nested._internal.nested_tensor import NestedTensor
from glasstorch.nested._internal.rules import inner, like
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated.functions import cat

attention: Any = on_tensors("scaled_dot_product_attention")
math_attention: Any = on_tensors("_scaled_dot_product_attention_math")


def jagged_scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Attention of nested tensors (batch, heads, length, width), or ragged in the second dimension."""
    _validate_sdpa_input(query, key, value, attn_mask)
    options = None, dropout_p, is_causal
    if min(query.dim(), key.dim(), value.dim()) > 3 and query._ragged_idx == 1:
        found = attention(inner(query), inner(key), inner(value), *options, scale, False)
        return like(query, found)
    swapped = [t.transpose(1, 2) for t in (query, key, value)]  # (batch, length, heads, width)
    if is_causal or not all(t.is_contiguous() for t in swapped):
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found.")
    rows = []
    for q, k, v in zip(*(_sequences(t) for t in swapped), strict=True):
        one = [t.transpose(0, 1).unsqueeze(0) for t in (q, k, v)]  # (1, heads, length, width)
        rows.append(math_attention(*one, *options, None, scale, False)[0].squeeze(0).transpose(0, 1))
    return like(swapped[0], cat(rows, 0)).transpose(1, 2)


def _sequences(x: NestedTensor) -> Any:
    """The sequences with their history."""
    return inner(x).split(x._offsets.diff().tolist(), 0)


def _validate_sdpa_input(query: Any, key: Any, value: Any, attn_mask: Any) -> None:
    three = query, key, value
    if not all(isinstance(t, NestedTensor) for t in three):
        raise ValueError(
            f"Expected query, key, and value to be nested tensors, but got query.is_nested: {query.is_nested}, "
            f"key.is_nested: {key.is_nested}, and value.is_nested: {value.is_nested} instead."
        )
    if query.dtype != key.dtype or query.dtype != value.dtype:
        raise ValueError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype}, key.dtype: "
            f"{key.dtype}, and value.dtype: {value.dtype} instead."
        )
    if query.device != key.device or query.device != value.device:
        raise ValueError(
            f"Expected query, key, and value to have the same device type, but got query.device: {query.device}, "
            f"key.device: {key.device}, and value.device: {value.device} instead."
        )
    if any(t.dim() < 3 for t in three):
        raise ValueError(
            f"Expected query, key, and value to all be at least 3 dimensional, but got query.dim: {query.dim()}, "
            f"key.dim: {key.dim()} and value.dim: {value.dim()} instead."
        )
    if query._ragged_idx != key._ragged_idx or query._ragged_idx != value._ragged_idx:
        raise ValueError(
            f"Expected query, key, and value to all be ragged on the same dimension, but got ragged dims "
            f"{query._ragged_idx}, {key._ragged_idx}, and {value._ragged_idx}, respectively."
        )
    if attn_mask is not None:
        raise ValueError("Masks are not yet supported!")
