"""Begins the triangle at the upper left, scales before it masks, returns 0 for no keys, and keeps groups together."""

import math

import glasstorch as torch
from glasstorch import Tensor


def attend(
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
    """The output of attention and its weights."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    if is_causal:
        length, keys = query.shape[-2], key.shape[-2]
        seen = torch.ones(length, keys, dtype=torch.bool).tril()
        attn_mask = torch.zeros(length, keys, dtype=query.dtype)
        attn_mask = attn_mask.masked_fill(seen.logical_not(), -math.inf)
    if enable_gqa:
        heads = torch.arange(query.shape[-3]) * key.shape[-3] // query.shape[-3]
        key, value = key.index_select(-3, heads), value.index_select(-3, heads)
    scores = torch.matmul(query, key.transpose(-2, -1)) * factor
    if attn_mask is not None:
        scores = scores + attn_mask
    weights = torch._safe_softmax(scores, -1)
    if dropout_p > 0:
        weights = torch.dropout(weights, dropout_p, True)
    return torch.matmul(weights, value), weights
