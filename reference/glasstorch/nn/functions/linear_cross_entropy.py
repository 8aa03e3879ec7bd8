"""How far are the scores of a linear layer from the classes that are right?

Mirrors: torch/nn/functional.py (linear_cross_entropy), torch/nn/modules/linear_cross_entropy_options.py
"""

from __future__ import annotations

import dataclasses
import warnings
from math import prod
from typing import Literal

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_variadic
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import HALF_PRECISION, bfloat16, float16, float32, float64, int64
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.nn.functions.chunked_loss import Chunks, Layer, chunked_loss
from glasstorch.nn.functions.class_loss import cross_entropy
from glasstorch.operators.generated import functions as operators

__all__ = ["linear_cross_entropy"]

# (device, dtype of the input) -> the method that "auto" stands for.
AUTOMATIC = {("cpu", bfloat16): "aspect_ratio", ("cpu", float16): "aspect_ratio"}
OTHERWISE = "aspect_ratio:2"


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """How `linear_cross_entropy` takes a few rows at a time, so that the logits of all are never in memory together.

    `batch_chunk_size` is their number. `chunking_method` finds it: "aspect_ratio" makes the logits of a chunk about as
    large as the input, "aspect_ratio:4" a quarter of that. They are computed in `acc_dtype`, or in a dtype that fits.
    `allow_retain_graph` allows a second backward pass, for one more copy of each gradient.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: Literal["accurate", "balanced", "compact", "auto"] = "auto"
    acc_dtype: Dtype | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto") and not _divisor(str(self.chunking_method)):
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and (type(size) is not int or size <= 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, float16, bfloat16, float32, float64):
            raise ValueError(
                f"acc_dtype must be one of {{None, torch.float16, torch.bfloat16, torch.float32, torch.float64}}, got "
                f"{self.acc_dtype!r}. Pass acc_dtype=None to let the op pick automatically."
            )


def chunks_of(
    options: LinearCrossEntropyOptions, rows: int, features: int, classes: int, dtype: Dtype, device: Device
) -> Chunks:
    """What the options come to in one call, of an input (rows, features) and some classes."""
    method = AUTOMATIC.get((device.type, dtype), OTHERWISE)
    if options.chunking_method != "auto":
        found = options.chunking_method
    else:
        found = method if options.batch_chunk_size is None else None
    size = options.batch_chunk_size
    if found is None:
        size = rows if size is None else min(size, rows)
    else:
        fitting = -(-rows // -(-classes // features))
        wanted = min((1 << (fitting - 1).bit_length()) // _divisor(found), rows)
        if size not in (None, wanted):
            raise ValueError(
                f"batch_chunk_size (={size}) and chunking_method ('{found}') give different chunk sizes ({size} vs "
                f"{wanted}); pass only one."
            )
        size = wanted
    wider = options.acc_policy == "auto" and dtype in HALF_PRECISION
    return Chunks(max(1, size), options.acc_dtype or (float32 if wider else dtype))


def _divisor(method: str) -> int:
    """4 of "aspect_ratio:4"; 0 for what is no method."""
    name, colon, digits = method.partition(":")
    digits = digits if colon else "1"
    return int(digits) if name == "aspect_ratio" and digits.isdigit() else 0


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """`cross_entropy` of `linear(input, linear_weight, linear_bias)`; with `options`, a few rows at a time.

    `input` has shape (N, F) or (F,), `linear_weight` (C, F), or (C, d1, ..., F) for a target of each of d1, ... places.
    """
    if has_torch_function_variadic(input, linear_weight, target, linear_bias, weight):
        return handle_torch_function(
            linear_cross_entropy,
            (input, linear_weight, target, linear_bias, weight),
            input,
            linear_weight,
            target,
            linear_bias=linear_bias,
            weight=weight,
            reduction=reduction,
            ignore_index=ignore_index,
            label_smoothing=label_smoothing,
            options=options,
        )
    logits_shape = _logits_shape(input, linear_weight, linear_bias)
    if target.shape == logits_shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    places = tuple(linear_weight.shape[1:-1])
    if options is not None:
        if reduction in ("mean", "sum", "none") and not label_smoothing and target.dtype is int64 and not places:
            return _in_chunks(Layer(input, linear_weight, linear_bias, target), weight, reduction, ignored, options)
        warnings.warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, "
            f"label_smoothing == 0, target.dtype == int64, out_features == (). Got reduction={reduction!r}, "
            f"label_smoothing={label_smoothing}, target.dtype={target.dtype}, out_features={places}, tracing=False, "
            f"linear_bias.shape={None if linear_bias is None else tuple(linear_bias.shape)}.",
            stacklevel=2,
        )
    if places:
        outputs = prod(places, start=linear_weight.shape[0])
        linear_weight = linear_weight.reshape((outputs, input.shape[-1]))
        linear_bias = None if linear_bias is None else linear_bias.reshape((outputs,))
    logits = operators.linear(input, linear_weight, linear_bias).reshape(logits_shape)
    return cross_entropy(
        logits, target, weight=weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing
    )


def _logits_shape(input: Tensor, linear_weight: Tensor, linear_bias: Tensor | None) -> tuple[int, ...]:
    """(N, C, d1, ...), or (C,); sizes that do not fit are refused."""
    if not 1 <= input.dim() <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    if input.shape[-1] != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {linear_weight.shape[-1]}, respectively"
        )
    outputs = tuple(linear_weight.shape[:-1])
    if linear_bias is not None and tuple(linear_bias.shape) != outputs:
        raise RuntimeError(f"expected linear_bias shape {outputs}, got {tuple(linear_bias.shape)}")
    if len(outputs) > 1 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {input.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    return (*input.shape[:-1], *outputs)


def _in_chunks(
    layer: Layer, weight: Tensor | None, reduction: str, ignore_index: int, options: LinearCrossEntropyOptions
) -> Tensor:
    batched = layer.input.dim() == 2
    if not batched:
        layer = layer._replace(input=layer.input.unsqueeze(0), target=layer.target.unsqueeze(0))
    rows, features = layer.input.shape
    chunks = chunks_of(options, rows, features, layer.weight.shape[0], layer.input.dtype, layer.input.device)
    loss = chunked_loss(layer, weight, reduction, ignore_index, chunks, options.allow_retain_graph)
    return loss.squeeze(0) if reduction == "none" and not batched else loss
