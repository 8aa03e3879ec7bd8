"""What is a transformer, and what are its encoder, its decoder and their layers?

Mirrors: torch/nn/modules/transformer.py
Differs: no nested tensors. Where PyTorch takes the padding out and puts zeros in its place afterwards, all positions
    are computed here, and the padded ones set to zero.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn import functional, init
from glasstorch.nn.functions.attention import _canonical_mask, _none_or_dtype
from glasstorch.nn.modules.activation import GELU, ReLU
from glasstorch.nn.modules.attention import FAST_DEVICES, MultiheadAttention
from glasstorch.nn.modules.container import ModuleList
from glasstorch.nn.modules.dropout import Dropout
from glasstorch.nn.modules.linear import Linear
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.normalization import LayerNorm
from glasstorch.operators.composite.attention.choice import Settings
from glasstorch.operators.generated import functions as operators

Activation = Callable[[Tensor], Tensor]
Function = str | Activation

RECORDED = "grad is enabled and at least one of query or the input/output projection weights or biases requires_grad"


class Transformer(Module):
    """An encoder, and a decoder that attends to what the encoder has made of the source.

    Source (S, N, d_model) and target (T, N, d_model) give (T, N, d_model); with `batch_first` N comes first.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Function = functional.relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        layer: tuple[Any, ...] = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias,
            device, dtype,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)

        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            encoder_layer = TransformerEncoderLayer(*layer)
            self.encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm())
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            decoder_layer = TransformerDecoderLayer(*layer)
            self.decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """What the decoder makes of the target; refuses other widths than d_model, and batches that differ."""
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(  # type: ignore[no-any-return]
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Device | str | None = None, dtype: Dtype | None = None
    ) -> Tensor:
        """The causal mask (sz, sz) that is added: -inf above the diagonal, else 0."""
        return _generate_square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        """Draw all matrices again."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)


# Encoder --------------------------------------------------------------------------------------------------------------


class TransformerEncoder(Module):
    """Copies of a layer, one after the other, and perhaps a normalization after the last one.

    With `enable_nested_tensor` the padding of a batch comes out as zeros where the fast path applies.
    """

    __constants__: ClassVar = ["norm"]

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = _why_not_sparse(encoder_layer)
        if enable_nested_tensor and reason:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}", stacklevel=2
            )
            self.use_nested_tensor = False

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """The source (S, N, E) after all layers; `is_causal` says that `mask` is causal, and is found out if None."""
        src_key_padding_mask = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(mask), "mask", src.dtype
        )
        mask = _canonical_mask(mask, "mask", None, "", src.dtype, check_other=False)
        batch_first = self.layers[0].self_attn.batch_first
        is_causal = _detect_is_causal_mask(mask, is_causal, _get_seq_len(src, batch_first))
        padding = self._padding_to_drop(src, mask, src_key_padding_mask)
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=src_key_padding_mask)
        if padding is not None:
            output = output.masked_fill(padding.unsqueeze(-1), 0.0)
        return output if self.norm is None else self.norm(output)  # type: ignore[no-any-return]

    def _padding_to_drop(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor | None:
        """Which positions (N, S) PyTorch's fast path does not compute; None where it is not taken."""
        first = self.layers[0]
        if padding is None or mask is not None or src.dim() != 3 or first.training:
            return None
        if not Settings.fast_path or not getattr(self, "use_nested_tensor", False):
            return None
        dropped = padding.logical_not().logical_not()
        if getattr(self, "mask_check", True) and not _is_left_aligned(src, dropped):
            return None
        if src.device.type not in FAST_DEVICES or _is_recorded((src, *first._weights())):
            return None
        return dropped


def _is_left_aligned(src: Tensor, padding: Tensor) -> bool:
    """Whether all padding comes after the elements of its sequence."""
    if padding.shape != src.shape[:2]:
        raise RuntimeError("Mask size should match input size")
    return bool((padding == padding.cummax(1)[0]).all()) if padding.numel() else True


def _why_not_sparse(layer: Any) -> str:
    """Why an encoder of a layer cannot leave out padding; empty if it can."""
    name = "encoder_layer"
    if not isinstance(layer, TransformerEncoderLayer):
        return f"{name} was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        f"{name}.norm_first was True": layer.norm_first,
        f"{name}.self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not attention.batch_first
        ),
        f"{name}.self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        f"{name}.self_attn was passed bias=False": attention.in_proj_bias is None,
        f"{name}.activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        f"{name}.norm1.eps was not equal to {name}.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        f"{name}.self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


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
            return operators._transformer_encoder_layer_fwd(  # type: ignore[no-any-return]
                src,
                attention.embed_dim,
                attention.num_heads,
                *self._weights()[:4],
                self.activation_relu_or_gelu == 2,
                self.norm_first,
                self.norm1.eps,
                *self._weights()[4:],
                merged_mask,
                mask_type,
            )
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
        return RECORDED if _is_recorded(tensors) else ""

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        return _attended(self.self_attn, self.dropout1, x, x, attn_mask, key_padding_mask, is_causal)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))  # type: ignore[no-any-return]


# Decoder --------------------------------------------------------------------------------------------------------------


class TransformerDecoder(Module):
    """Copies of a layer, one after the other, and perhaps a normalization after the last one."""

    __constants__: ClassVar = ["norm"]

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """The target (T, N, E) after all layers, which attend to the memory (S, N, E)."""
        length = _get_seq_len(tgt, self.layers[0].self_attn.batch_first)
        tgt_is_causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, length)
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)  # type: ignore[no-any-return]


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


def _is_recorded(tensors: tuple[Tensor, ...]) -> bool:
    return is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


def _get_clones(module: Module, N: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


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


def _generate_square_subsequent_mask(sz: int, device: Device | str | None = None, dtype: Dtype | None = None) -> Tensor:
    """-inf above the diagonal, else 0."""
    return operators.full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)


def _get_seq_len(src: Tensor, batch_first: bool) -> int:
    return src.size(1 if batch_first and src.dim() == 3 else 0)


def _detect_is_causal_mask(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """Whether a mask is causal: as the caller says, or by a look at it."""
    if is_causal is not None or mask is None:
        return is_causal is True
    length = size if size is not None else mask.size(-2)
    causal = _generate_square_subsequent_mask(length, mask.device, mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())
