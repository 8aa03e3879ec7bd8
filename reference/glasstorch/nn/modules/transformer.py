"""What is a transformer, and what are its encoder and its decoder?

Mirrors: torch/nn/modules/transformer.py
Differs: no nested tensors. Where PyTorch takes the padding out and puts zeros in its place afterwards, all positions
    are computed here, and the padded ones set to zero.
"""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any, ClassVar

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn import functional, init
from glasstorch.nn.functions.attention import _canonical_mask, _none_or_dtype
from glasstorch.nn.modules.attention import FAST_DEVICES
from glasstorch.nn.modules.container import ModuleList
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.normalization import LayerNorm
from glasstorch.nn.modules.transformer_layers import (
    Function,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
    is_recorded,
)
from glasstorch.nn.modules.transformer_layers import _get_activation_fn as _get_activation_fn
from glasstorch.operators.composite.attention.choice import Settings
from glasstorch.operators.generated import functions as operators


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
        return output if self.norm is None else self.norm(output)

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
        if src.device.type not in FAST_DEVICES or is_recorded((src, *first._weights())):
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
        return output if self.norm is None else self.norm(output)


# Parts of both --------------------------------------------------------------------------------------------------------


def _get_clones(module: Module, N: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _generate_square_subsequent_mask(sz: int, device: Device | str | None = None, dtype: Dtype | None = None) -> Tensor:
    """-inf above the diagonal, else 0."""
    return operators.full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)


def _get_seq_len(src: Tensor, batch_first: bool) -> int:
    return int(src.size(1 if batch_first and src.dim() == 3 else 0))


def _detect_is_causal_mask(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """Whether a mask is causal: as the caller says, or by a look at it."""
    if is_causal is not None or mask is None:
        return is_causal is True
    length = size if size is not None else mask.size(-2)
    causal = _generate_square_subsequent_mask(length, mask.device, mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())
