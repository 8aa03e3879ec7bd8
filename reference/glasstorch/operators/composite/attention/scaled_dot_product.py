"""How is scaled dot product attention composed of other operators, and how does it pick a kernel?

Mirrors: aten/src/ATen/native/transformers/attention.cpp (scaled_dot_product_attention,
    _scaled_dot_product_attention_math, _safe_softmax, convert_boolean_attn_mask)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from glasstorch.core.dtype import bfloat16, bool_, dtype, float16, float32
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.symbols import square_root
from glasstorch.operators.composite.attention.choice import ERROR, FLASH, Settings, fused_sdp_choice
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.attention import check_inputs

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Tensor:
    """softmax(query @ key.T * scale + mask) @ value, in the way that `_fused_sdp_choice` takes."""
    check_inputs(query, key, value, attn_mask)
    if query._shape[-2] == 0 or 0 in value._shape:
        return _nothing(query, key, value)
    way = fused_sdp_choice(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)  # as PyTorch: no call
    if way == ERROR:
        raise ArgumentError(
            "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the "
            "math kernel and the fused kernels."
        )
    mask = additive(attn_mask, query.dtype)
    if way == FLASH:
        return f._scaled_dot_product_flash_attention_for_cpu(  # type: ignore[no-any-return]
            query, key, value, dropout_p, is_causal, attn_mask=mask, scale=scale
        )[0]
    return f._scaled_dot_product_attention_math(  # type: ignore[no-any-return]
        query, key, value, mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa
    )[0]


def _nothing(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Zeros, where nobody asks or there is nothing to give; gradients of 0 reach all three."""
    zeros = f.zeros((*query._shape[:-1], value._shape[-1]), dtype=query.dtype, device=query.device)
    return zeros + (query.sum() + key.sum() + value.sum()) * 0


def additive(mask: Tensor | None, dtype: dtype) -> Tensor | None:
    """A mask that is added to scores: 0 where a bool mask is true, else -inf; others are what they are."""
    if mask is None or mask.dtype is not bool_:
        return mask
    return f.zeros_like(mask, dtype=dtype).masked_fill_(mask.logical_not(), -math.inf)


def attention_math(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    dropout_mask: Tensor | None,
    scale: float | None,
    enable_gqa: bool,
) -> tuple[Tensor, Tensor]:
    """The output and the weights, step by step; query and key each take the root of the scale."""
    given = query.dtype
    if given in (float16, bfloat16) and not Settings.half_sums:
        query, key, value = query.to(float32), key.to(float32), value.to(float32)
    scale = 1 / square_root(query._shape[-1] or math.nan) if scale is None else scale
    root = square_root(abs(scale))
    query = query * (-root if scale < 0 else root)
    if is_causal:
        if attn_mask is not None:
            raise ArgumentError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )
        sizes = (query._shape[-2], key._shape[-2])
        attn_mask = additive(f.ones(sizes, dtype=bool_, device=query.device).tril(), query.dtype)
    if enable_gqa:
        key, value = for_each_head(query, key, value)
    scores = f.matmul(query, (key * root).transpose(-2, -1))
    if attn_mask is not None:
        scores.add_(attn_mask)
    weights = f._safe_softmax(scores, -1)
    if dropout_p > 0 and dropout_mask is not None:
        weights = weights.masked_fill(dropout_mask.logical_not(), 0.0)
        return f.matmul(weights, value * (1 / (1 - dropout_p))), weights
    if dropout_p > 0:
        weights = f.dropout(weights, dropout_p, True)
    return f.matmul(weights, value).to(given), weights.to(given)


def for_each_head(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Key and value with as many heads as the query: each of theirs serves a group of its heads."""
    heads = [one.size(-3) for one in (query, key, value)]
    if heads[0] == heads[1] == heads[2]:
        return key, value
    if 0 in heads[1:] or heads[0] % heads[1] or heads[0] % heads[2]:
        raise ShapeError("Number of heads in key and value must divide the number of heads in query")
    return (
        key.repeat_interleave(heads[0] // heads[1], -3),
        value.repeat_interleave(heads[0] // heads[2], -3),
    )


def safe_softmax(self: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """softmax, with 0 where all elements are -inf."""
    shares = f.softmax(self, dim, dtype)
    return f.where(self.eq(-math.inf).all(dim, True), 0.0, shares)
