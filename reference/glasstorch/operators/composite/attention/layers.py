"""How are attention of several heads, and a whole layer of a transformer, computed where no gradient is asked for?

Mirrors: aten/src/ATen/native/transformers/attention.cpp (native_multi_head_attention_cpu, masked_softmax),
    transformer.cpp (transformer_encoder_layer_forward)
Differs: no nested tensors.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from glasstorch.core.dtype import bool_
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

OF_QUERIES, OF_PADDING, OF_HEADS = 0, 1, 2  # what a mask is: (L, S), (N, S), or (N, heads, L, S)


def native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None,
    need_weights: bool,
    average_attn_weights: bool,
    mask_type: int | None,
) -> tuple[Tensor, Tensor | None]:
    """Three inputs (N, L, E), projected by one weight (3 * E, E); the output (N, L, E), and the weights if needed."""
    _check_inputs(query, key, value, embed_dim)
    _check_parameters(embed_dim, num_head, qkv_weight, qkv_bias)
    batch, length = query._shape[:2]

    def of_heads(part: int, input: Tensor) -> Tensor:
        rows = slice(part * embed_dim, (part + 1) * embed_dim)
        projected = f.linear(input, qkv_weight[rows], qkv_bias[rows])
        return projected.view((batch, length, num_head, embed_dim // num_head)).transpose(1, 2)

    q, k, v = (of_heads(part, input) for part, input in enumerate((query, key, value)))
    scores = f.matmul(q * (1 / math.sqrt(embed_dim // num_head)), k.transpose(-2, -1))  # (N, heads, L, L)
    if mask is not None:
        scores = scores.masked_fill(_for_scores(mask, mask_type, scores), -math.inf)
    weights = f.softmax(scores, -1)
    joined = f.matmul(weights, v).transpose(1, 2).reshape((batch, length, embed_dim))
    output = f.linear(joined, proj_weight, proj_bias)
    if not need_weights:
        return output, None
    return output, weights.mean(1) if average_attn_weights else weights


def _check_inputs(query: Tensor, key: Tensor, value: Tensor, embed_dim: int) -> None:
    if query.dim() != 3:
        raise ShapeError(f"expected 3-D `query`, got {query.dim()}-D tensor")
    if query._shape[2] != embed_dim:
        raise ShapeError(f"passed-in embed_dim {embed_dim} didn't match last dim of query {query._shape[2]}")
    for name, tensor in (("key", key), ("value", value)):
        if tensor.dim() != 3:
            raise ShapeError(f"expected 3-D `{name}`, got {tensor.dim()}-D tensor")
    if not query._shape == key._shape == value._shape:
        raise ShapeError("expected `query`/`key`/`value` shapes to match")


def _check_parameters(embed_dim: int, num_head: int, qkv_weight: Tensor, qkv_bias: Tensor) -> None:
    if qkv_weight.dim() != 2:
        raise ShapeError(f"expected 2-D `qkv_weight`, got {qkv_weight.dim()}-D tensor")
    if qkv_weight._shape[0] != 3 * embed_dim:
        raise ShapeError("expected `qkv_weight` first dim to be 3x embed_dim")
    if qkv_weight._shape[1] != embed_dim:
        raise ShapeError("expected `qkv_weight` second dim to be embed_Dim")
    if qkv_bias.dim() != 1:
        raise ShapeError(f"expected 1-D `qkv_bias`, got {qkv_bias.dim()}-D tensor")
    if qkv_bias._shape[0] != 3 * embed_dim:
        raise ShapeError("expected `qkv_bias` first dim and first dim of query to be equal")
    if embed_dim % num_head:
        raise ShapeError("`embed_dim` must divide evenly by `num_heads`")


def _for_scores(mask: Tensor, mask_type: int | None, scores: Tensor) -> Tensor:
    """A bool mask that broadcasts with (N, heads, L, S): true where a score is taken away."""
    batch, _, queries, keys = scores._shape
    hidden = mask if mask.dtype is bool_ else mask.to(bool_)
    if mask_type == OF_QUERIES:
        if mask._shape != (queries, keys):
            raise ShapeError("For mask_type == 0 mask shape should be (L, L)")
        return hidden
    if mask_type == OF_PADDING:
        if mask._shape != (batch, keys):
            raise ShapeError("For mask_type == 1 mask shape should be (B, L)")
        return hidden.view((batch, 1, 1, keys))
    if mask_type == OF_HEADS:
        if mask._shape != scores._shape:
            raise ShapeError("For mask_type == 2 mask shape should match input shape")
        return hidden
    if mask_type is None:
        raise ArgumentError("Mask Type should be defined")
    raise ArgumentError("Mask Type should be 0 (src_mask) or 1 (src_key_padding_mask), or 2 (default_mask)")


def transformer_encoder_layer_fwd(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None,
    mask_type: int | None,
) -> Tensor:
    """Attention of (N, L, E) to itself and a network of two layers, each added to its input, and two normalizations."""

    def attend(x: Tensor) -> Tensor:
        projections = (qkv_weight, qkv_bias, proj_weight, proj_bias)
        found = f._native_multi_head_attention(
            x, x, x, embed_dim, num_heads, *projections, mask, False, True, mask_type
        )
        return found[0]  # type: ignore[no-any-return]

    def feed(x: Tensor) -> Tensor:
        inner = f.linear(x, ffn_weight_1, ffn_bias_1)
        return f.linear(f.gelu(inner) if use_gelu else f.relu(inner), ffn_weight_2, ffn_bias_2)

    def first_norm(x: Tensor) -> Tensor:
        return f.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)

    def second_norm(x: Tensor) -> Tensor:
        return f.layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps)

    if norm_first:
        x = src + attend(first_norm(src))
        return x + feed(second_norm(x))
    x = first_norm(src + attend(src))
    return second_norm(x + feed(x))
