"""What is attention, of one head and of several?

Mirrors: torch/nn/functional.py (scaled_dot_product_attention, multi_head_attention_forward)
"""

from __future__ import annotations

import math
import warnings

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function
from glasstorch.calls.parser import publish
from glasstorch.core.dtype import bool_
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn.attention.bias import CausalBias
from glasstorch.nn.functions.activation import softmax
from glasstorch.nn.functions.dropout import dropout
from glasstorch.nn.functions.linear import linear
from glasstorch.operators.generated import functions as operators

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """`softmax(query @ key.T * scale + attn_mask) @ value`, of queries (..., L, E) and keys (..., S, E).

    A bool mask is true where a query sees a key; others are added. `scale` is one over the root of E unless given.
    """
    if isinstance(attn_mask, CausalBias):
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        is_causal = attn_mask.is_upper_left()
        attn_mask = None if is_causal else attn_mask._materialize(query.device)
    return operators.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


publish(scaled_dot_product_attention, operators._parse_scaled_dot_product_attention)  # others are asked about it


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Query (L, N, E), key (S, N, E) and value projected, split into heads, attended, joined and projected.

    Inputs without a batch have no N. The second result is the weights (N, L, S), or None unless `need_weights`.
    """
    relevant = (query, key, value, in_proj_weight, in_proj_bias, bias_k, bias_v, out_proj_weight, out_proj_bias)
    if has_torch_function(relevant):
        return handle_torch_function(
            multi_head_attention_forward,
            relevant,
            *(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v),
            *(add_zero_attn, dropout_p, out_proj_weight, out_proj_bias),
            training=training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            is_causal=is_causal,
            use_separate_proj_weight=use_separate_proj_weight,
            q_proj_weight=q_proj_weight,
            k_proj_weight=k_proj_weight,
            v_proj_weight=v_proj_weight,
            static_k=static_k,
            static_v=static_v,
            average_attn_weights=average_attn_weights,
        )
    is_batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    tgt_len, bsz, embed_dim = query.shape
    src_len = key.shape[0]
    key_padding_mask = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # scaled_dot_product_attention is told so by is_causal
    else:
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        if key_padding_mask is not None:
            is_causal = False

    if embed_dim != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}")
    head_dim = embed_dim // num_heads
    if head_dim * num_heads != embed_dim:
        raise AssertionError(f"embed_dim {embed_dim} not divisible by num_heads {num_heads}")
    if use_separate_proj_weight:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
        separate = {"q": q_proj_weight, "k": k_proj_weight, "v": v_proj_weight}
        q, k, v = _projected_by_three(query, key, value, separate, in_proj_bias)
    else:
        if key.shape != value.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        q, k, v = _in_projection_packed(query, key, value, in_proj_weight, in_proj_bias)

    attn_mask = _with_heads(attn_mask, bsz * num_heads, tgt_len, src_len)
    columns = 0  # keys that are added, which every query sees
    if bias_k is not None and bias_v is not None:
        for name, static in (("key", static_k), ("value", static_v)):
            if static is not None:
                raise AssertionError(f"bias cannot be added to static {name}.")
        k = operators.cat([k, bias_k.repeat(1, bsz, 1)])
        v = operators.cat([v, bias_v.repeat(1, bsz, 1)])
        columns += 1
    elif bias_k is not None:
        raise AssertionError("bias_k is set but bias_v is None")
    elif bias_v is not None:
        raise AssertionError("bias_v is set but bias_k is None")

    q = q.view(tgt_len, bsz * num_heads, head_dim).transpose(0, 1)
    k = _heads_first("static_k", k, static_k, bsz * num_heads, head_dim)
    v = _heads_first("static_v", v, static_v, bsz * num_heads, head_dim)
    if add_zero_attn:
        sizes = (bsz * num_heads, 1, head_dim)
        k = operators.cat([k, operators.zeros(sizes, dtype=k.dtype, device=k.device)], dim=1)
        v = operators.cat([v, operators.zeros(sizes, dtype=v.dtype, device=v.device)], dim=1)
        columns += 1
    src_len = k.size(1)
    if columns and attn_mask is not None:
        attn_mask = operators.constant_pad_nd(attn_mask, (0, columns))
    if columns and key_padding_mask is not None:
        key_padding_mask = operators.constant_pad_nd(key_padding_mask, (0, columns))
    if key_padding_mask is not None:
        padding = _of_each_head(key_padding_mask, bsz, num_heads, src_len)
        attn_mask = padding if attn_mask is None else attn_mask + padding
    dropout_p = dropout_p if training else 0.0

    weights: Tensor | None = None
    if need_weights:
        if is_causal and attn_mask is None:
            raise AssertionError("FIXME: is_causal not implemented for need_weights")
        output, weights = _attended_with_weights(q, k, v, attn_mask, dropout_p)
        output = output.transpose(0, 1).reshape(tgt_len * bsz, embed_dim)
        weights = weights.view(bsz, num_heads, tgt_len, src_len)
        weights = weights.mean(dim=1) if average_attn_weights else weights
        weights = weights if is_batched else weights.squeeze(0)
    else:
        if attn_mask is not None:
            alike = attn_mask.size(0) == 1 and attn_mask.dim() == 3
            attn_mask = attn_mask.unsqueeze(0) if alike else attn_mask.view(bsz, num_heads, -1, src_len)
        q = q.view(bsz, num_heads, tgt_len, head_dim)
        k = k.view(bsz, num_heads, src_len, head_dim)
        v = v.view(bsz, num_heads, src_len, head_dim)
        output = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
        output = output.permute(2, 0, 1, 3).reshape(bsz * tgt_len, embed_dim)
    output = linear(output, out_proj_weight, out_proj_bias)
    output = output.view(tgt_len, bsz, output.size(1))
    return output if is_batched else output.squeeze(1), weights


def _attended_with_weights(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None, dropout_p: float
) -> tuple[Tensor, Tensor]:
    """The output (N * heads, L, E / heads), and the weights (N * heads, L, S)."""
    q = q * math.sqrt(1.0 / float(q.shape[-1]))
    keys = k.transpose(-2, -1)
    scores = operators.bmm(q, keys) if attn_mask is None else operators.baddbmm(attn_mask, q, keys)
    weights = softmax(scores, dim=-1)
    weights = dropout(weights, p=dropout_p) if dropout_p > 0.0 else weights
    return operators.bmm(weights, v), weights


# Projections ----------------------------------------------------------------------------------------------------------


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Three projections by a weight (3 * E, E); of equal inputs in one product."""
    width = q.size(-1)
    if k is v and q is k:
        one, two, three = _split(linear(q, w, b), 3, width)
        return one, two, three
    if k is v:
        w_q, w_kv = w.split([width, width * 2])
        b_q, b_kv = (None, None) if b is None else b.split([width, width * 2])
        query = linear(q, w_q, b_q)
        keys, values = _split(linear(k, w_kv, b_kv), 2, width)
        return query, keys, values
    w_q, w_k, w_v = w.chunk(3)
    b_q, b_k, b_v = (None, None, None) if b is None else b.chunk(3)
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _split(projected: Tensor, parts: int, width: int) -> list[Tensor]:
    """The last dimension in parts, each of them row-major."""
    joined = projected.unflatten(-1, (parts, width)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
    return [joined[part] for part in range(parts)]


def _projected_by_three(
    query: Tensor, key: Tensor, value: Tensor, weights: dict[str, Tensor | None], bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """A projection for each, to the query's width, whatever widths key and value have."""
    for name, weight in weights.items():
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return _in_projection(query, key, value, *weights.values(), *biases)  # type: ignore[arg-type]


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Three projections, whose sizes are checked first."""
    width = q.size(-1)
    for name, weight, read in (("query", w_q, q), ("key", w_k, k), ("value", w_v, v)):
        if weight.shape != (width, read.size(-1)):
            raise AssertionError(f"expecting {name} weights shape of {(width, read.size(-1))}, but got {weight.shape}")
    for name, bias in (("query", b_q), ("key", b_k), ("value", b_v)):
        if bias is not None and bias.shape != (width,):
            raise AssertionError(f"expecting {name} bias shape of {(width,)}, but got {bias.shape}")
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _heads_first(name: str, projected: Tensor, static: Tensor | None, heads: int, head_dim: int) -> Tensor:
    """(S, N, E) as (N * heads, S, E / heads); or what the caller gives in its place."""
    if static is None:
        return projected.view(projected.shape[0], heads, head_dim).transpose(0, 1)
    for dim, size in ((0, heads), (2, head_dim)):
        if static.size(dim) != size:
            raise AssertionError(f"expecting {name}.size({dim}) of {size}, but got {static.size(dim)}")
    return static


# Masks ----------------------------------------------------------------------------------------------------------------


def _mha_shape_check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Whether there is a batch; refuses inputs and masks whose numbers of dimensions do not say the same."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    given = f"For {'batched' if dims == 3 else 'unbatched'} ({dims}-D) `query`"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"{given}, expected `key` and `value` to be {dims}-D but found {key.dim()}-D and {value.dim()}-D tensors "
            "respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"{given}, expected `key_padding_mask` to be `None` or {dims - 1}-D but found {key_padding_mask.dim()}-D "
            "tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"{given}, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
        )
    if dims == 2 and attn_mask is not None and attn_mask.dim() == 3:
        wanted = (num_heads, query.shape[0], key.shape[0])
        if attn_mask.shape != wanted:
            raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.shape}")
    return dims == 3


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: Dtype | None,
    other_name: str,
    target_type: Dtype,
    check_other: bool = True,
) -> Tensor | None:
    """A mask that is added: -inf where a bool mask is true, else 0."""
    if mask is None:
        return None
    is_float = mask.is_floating_point()
    if mask.dtype is not bool_ and not is_float:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype is not other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=2,
        )
    return mask if is_float else operators.zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _none_or_dtype(input: Tensor | None) -> Dtype | None:
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _with_heads(attn_mask: Tensor | None, heads: int, tgt_len: int, src_len: int) -> Tensor | None:
    """A mask (L, S) as (1, L, S); one of three dimensions has a matrix for each head of each sample."""
    if attn_mask is None:
        return None
    wanted = (tgt_len, src_len) if attn_mask.dim() == 2 else (heads, tgt_len, src_len)
    if attn_mask.shape != wanted:
        raise RuntimeError(
            f"The shape of the {attn_mask.dim()}D attn_mask is {attn_mask.shape}, but should be {wanted}."
        )
    return attn_mask.unsqueeze(0) if attn_mask.dim() == 2 else attn_mask


def _of_each_head(key_padding_mask: Tensor, bsz: int, num_heads: int, src_len: int) -> Tensor:
    """A mask (N, S) as (N * heads, 1, S)."""
    for dim, size in enumerate((bsz, src_len)):
        if key_padding_mask.size(dim) != size:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{dim}] to be {size}, but got {key_padding_mask.size(dim)}"
            )
    expanded = key_padding_mask.view(bsz, 1, 1, src_len).expand(-1, num_heads, -1, -1)
    return expanded.reshape(bsz * num_heads, 1, src_len)
