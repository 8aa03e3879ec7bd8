"""What is a layer of attention with several heads?

Mirrors: torch/nn/modules/activation.py (MultiheadAttention)
Differs: a file of its own. Nested tensors take no fast path, and no tracing keeps a layer from it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn import init
from glasstorch.nn.functions.attention import _canonical_mask, _none_or_dtype, multi_head_attention_forward
from glasstorch.nn.modules.linear import NonDynamicallyQuantizableLinear
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.composite.attention.choice import Settings
from glasstorch.operators.generated import functions as operators

FAST_DEVICES = ("cpu", "cuda")


class MultiheadAttention(Module):
    """Queries, keys and values are projected, split into heads that attend on their own, joined, and projected.

    Query (L, N, embed_dim), key (S, N, kdim) and value (S, N, vdim) give (L, N, embed_dim), and weights (N, L, S);
    with `batch_first` N comes first, and without a batch there is no N. Refuses a width that the heads do not divide.
    """

    __constants__: ClassVar = ["batch_first"]
    in_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != self.embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        def parameter(*sizes: int) -> Parameter:
            return Parameter(operators.empty(sizes, device=device, dtype=dtype))

        if not self._qkv_same_embed_dim:
            self.q_proj_weight = parameter(embed_dim, embed_dim)
            self.k_proj_weight = parameter(embed_dim, self.kdim)
            self.v_proj_weight = parameter(embed_dim, self.vdim)
            self.register_parameter("in_proj_weight", None)
        else:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim)
            for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
                self.register_parameter(name, None)
        if bias:
            self.in_proj_bias = parameter(3 * embed_dim)
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)
        self.bias_k = parameter(1, 1, embed_dim) if add_bias_kv else None
        self.bias_v = parameter(1, 1, embed_dim) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the projections again, and the added key and value; the biases become 0."""
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            assert self.out_proj.bias is not None
            init.constant_(self.out_proj.bias, 0.0)
        for added in (self.bias_k, self.bias_v):
            if added is not None:
                init.xavier_normal_(added)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)  # what was saved before there were kdim and vdim
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The output, and the weights or None. A bool mask is true where a query must not see a key; others are added.

        `is_causal` says that `attn_mask` is the causal mask.
        """
        given_masks = (attn_mask, key_padding_mask)
        key_padding_mask = _canonical_mask(
            key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
        )
        attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
        why_not = self._why_not_fast_path(query, key, value, given_masks)
        if not why_not:
            merged_mask, mask_type = self.merge_masks(attn_mask, key_padding_mask, query)
            if self.in_proj_bias is not None and self.in_proj_weight is not None and self.out_proj.bias is not None:
                return operators._native_multi_head_attention(  # type: ignore[no-any-return]
                    query,
                    key,
                    value,
                    self.embed_dim,
                    self.num_heads,
                    self.in_proj_weight,
                    self.in_proj_bias,
                    self.out_proj.weight,
                    self.out_proj.bias,
                    merged_mask,
                    need_weights,
                    average_attn_weights,
                    mask_type,
                )
        elif query.is_nested or key.is_nested or value.is_nested:
            raise AssertionError(
                "MultiheadAttention does not support NestedTensor outside of its fast path. The fast path was not hit "
                f"because {why_not}"
            )
        batch_comes_first = self.batch_first and query.dim() == 3
        if batch_comes_first:
            query, key, value = _turned(query, key, value)
        separate: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            separate = {
                "use_separate_proj_weight": True,
                "q_proj_weight": self.q_proj_weight,
                "k_proj_weight": self.k_proj_weight,
                "v_proj_weight": self.v_proj_weight,
            }
        output, weights = multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            **separate,
        )
        return output.transpose(1, 0) if batch_comes_first else output, weights

    def _why_not_fast_path(
        self, query: Tensor, key: Tensor, value: Tensor, masks: tuple[Tensor | None, Tensor | None]
    ) -> str:
        """Why the layer is not one operator; empty if it is."""
        bias, weight = self.in_proj_bias, self.in_proj_weight
        tensors = (query, key, value, weight, bias, self.out_proj.weight, self.out_proj.bias)
        given = [tensor for tensor in tensors if tensor is not None]
        reasons = {
            "floating-point masks are not supported for fast path.": any(
                mask is not None and mask.is_floating_point() for mask in masks
            ),
            "torch.backends.mha.get_fastpath_enabled() was not True": not Settings.fast_path,
            f"input not batched; expected query.dim() of 3 but got {query.dim()}": query.dim() != 3,
            "non-self attention was used (query, key, and value are not the same Tensor)": not query is key is value,
            "dtypes of query and self.in_proj_bias don't match": bias is not None and query.dtype is not bias.dtype,
            "in_proj_weight was None": weight is None,
            "dtypes of query and self.in_proj_weight don't match": weight is not None
            and query.dtype is not weight.dtype,
            "training is enabled": self.training,
            "self.num_heads is not even": self.num_heads % 2 != 0,
            "batch_first was not True": not self.batch_first,
            "self.bias_k was not None": self.bias_k is not None,
            "self.bias_v was not None": self.bias_v is not None,
            "add_zero_attn was enabled": self.add_zero_attn,
            "_qkv_same_embed_dim was not True": not self._qkv_same_embed_dim,
            "some Tensor argument has_torch_function": any(tensor.is_nested for tensor in given),
            "some Tensor argument's device is neither one of cpu, cuda": any(
                tensor.device.type not in FAST_DEVICES for tensor in given
            ),
            "grad is enabled and at least one of query or the input/output projection weights or biases "
            "requires_grad": is_grad_enabled() and any(tensor.requires_grad for tensor in given),
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one, and its kind: 1 for padding (N, L), 2 for (N, heads, L, L); None without a mask."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2


def _turned(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(N, L, E) as (L, N, E); what was the same tensor stays the same, so that it is projected once."""
    turned_value = value.transpose(1, 0)
    turned_key = turned_value if key is value else key.transpose(1, 0)
    return turned_key if query is key else query.transpose(1, 0), turned_key, turned_value
