"""What are the layers of a transformer's encoder and decoder?

Mirrors: torch/nn/modules/transformer.py (TransformerEncoderLayer, TransformerDecoderLayer)
Differs: a file of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn import functional
from glasstorch.nn.functions.attention import _canonical_mask, _none_or_dtype
from glasstorch.nn.modules.activation import GELU, ReLU
from glasstorch.nn.modules.attention import FAST_DEVICES, MultiheadAttention
from glasstorch.nn.modules.dropout import Dropout
from glasstorch.nn.modules.linear import Linear
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.normalization import LayerNorm
from glasstorch.operators.composite.attention.choice import Settings
from glasstorch.operators.generated import functions as operators

Activation = Callable[[Tensor], Tensor]
Function = str | Activation

RECORDED = "grad is enabled and at least one of query or the input/output projection weights or biases requires_grad"


class TransformerEncoderLayer(Module):
    """Attention of a sequence to itself, then a network of two layers; each is added to its input and normalized.

    With `norm_first` the normalizations stand before both instead. Takes and gives (S, N, d_model).
    """

    __constants__: ClassVar = ["norm_first"]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Function = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **place)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        activation = _get_activation_fn(activation) if isinstance(activation, str) else activation
        self.activation_relu_or_gelu = _relu_or_gelu(activation)
        self.activation = activation

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = functional.relu

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The source after attention and network; by one operator where no gradient is recorded."""
        src_key_padding_mask = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(src_mask), "src_mask", src.dtype
        )
        src_mask = _canonical_mask(src_mask, "src_mask", None, "", src.dtype, check_other=False)
        if not self._why_not_fast_path(src):
            merged_mask, mask_type = self.self_attn.merge_masks(src_mask, src_key_padding_mask, src)
            attention = self.self_attn
            kind = (self.activation_relu_or_gelu == 2, self.norm_first, self.norm1.eps)
            weights = self._weights()
            arguments = (attention.embed_dim, attention.num_heads, *weights[:4], *kind, *weights[4:])
            layer: Any = operators._transformer_encoder_layer_fwd
            return layer(src, *arguments, merged_mask, mask_type)  # type: ignore[no-any-return]
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), src_mask, src_key_padding_mask, is_causal=is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, src_mask, src_key_padding_mask, is_causal=is_causal))
        return self.norm2(x + self._ff_block(x))  # type: ignore[no-any-return]

    def _weights(self) -> tuple[Any, ...]:
        """The parameters, in the order in which the operator of the layer takes them."""
        attention = self.self_attn
        return (
            attention.in_proj_weight,
            attention.in_proj_bias,
            attention.out_proj.weight,
            attention.out_proj.bias,
            self.norm1.weight,
            self.norm1.bias,
            self.norm2.weight,
            self.norm2.bias,
            self.linear1.weight,
            self.linear1.bias,
            self.linear2.weight,
            self.linear2.bias,
        )

    def _why_not_fast_path(self, src: Tensor) -> str:
        """Why the layer is not one operator; empty if it is."""
        attention = self.self_attn
        if not Settings.fast_path:
            return "torch.backends.mha.get_fastpath_enabled() was not True"
        reasons = {
            f"input not batched; expected src.dim() of 3 but got {src.dim()}": src.dim() != 3,
            "training is enabled": self.training,
            "self_attn.batch_first was not True": not attention.batch_first,
            "self_attn was passed bias=False": attention.in_proj_bias is None,
            "self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
            "activation_relu_or_gelu was not True": not self.activation_relu_or_gelu,
            "norm1.eps is not equal to norm2.eps": self.norm1.eps != self.norm2.eps,
            "num_head is odd": attention.num_heads % 2 == 1,
            "some Tensor argument has_torch_function": src.is_nested,
            "forward pre-/hooks are attached to the module": any(
                one._forward_hooks or one._forward_pre_hooks for one in self.modules()
            ),
        }
        reason = next((reason for reason, holds in reasons.items() if holds), "")
        if reason:
            return reason
        tensors = (src, *self._weights())
        if any(tensor.device.type not in FAST_DEVICES for tensor in tensors):
            return f"some Tensor argument's device is neither one of {FAST_DEVICES}"
        return RECORDED if is_recorded(tensors) else ""

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        return _attended(self.self_attn, self.dropout1, x, x, attn_mask, key_padding_mask, is_causal)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))  # type: ignore[no-any-return]


class TransformerDecoderLayer(Module):
    """As an encoder's layer, with attention to the encoder's output between attention to itself and the network."""

    __constants__: ClassVar = ["norm_first"]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Function = functional.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **place)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias=bias, batch_first=batch_first, **place)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **place)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **place)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **place)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("activation", functional.relu)
        super().__setstate__(state)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The target after both attentions and the network."""
        of_target = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        of_memory = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *of_target)
            x = x + self._mha_block(self.norm2(x), memory, *of_memory)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *of_target))
        x = self.norm2(x + self._mha_block(x, memory, *of_memory))
        return self.norm3(x + self._ff_block(x))  # type: ignore[no-any-return]

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        return _attended(self.self_attn, self.dropout1, x, x, attn_mask, key_padding_mask, is_causal)

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        return _attended(self.multihead_attn, self.dropout2, x, mem, attn_mask, key_padding_mask, is_causal)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))  # type: ignore[no-any-return]


# Parts of both --------------------------------------------------------------------------------------------------------


def _attended(
    attention: Module,
    dropout: Module,
    x: Tensor,
    memory: Tensor,
    attn_mask: Tensor | None,
    key_padding_mask: Tensor | None,
    is_causal: bool,
) -> Tensor:
    """What attention to a memory gives, with dropout."""
    found = attention(
        x,
        memory,
        memory,
        attn_mask=attn_mask,
        key_padding_mask=key_padding_mask,
        is_causal=is_causal,
        need_weights=False,
    )
    return dropout(found[0])  # type: ignore[no-any-return]


def is_recorded(tensors: tuple[Tensor, ...]) -> bool:
    """Whether an operator on these tensors would be recorded for a gradient."""
    return is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _get_activation_fn(activation: str) -> Activation:
    if activation == "relu":
        return functional.relu
    if activation == "gelu":
        return functional.gelu
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")


def _relu_or_gelu(activation: Activation) -> int:
    """1 for relu, 2 for gelu, 0 for others, which keep a layer from its fast path."""
    if activation is functional.relu or isinstance(activation, ReLU):
        return 1
    return 2 if activation is functional.gelu or isinstance(activation, GELU) else 0
