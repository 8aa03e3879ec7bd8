"""How is the cross entropy of many classes computed with the logits of a few rows at a time?

The logits of N rows are an array (N, C), which is larger than all else where C is a vocabulary. A chunk of rows needs
its own logits only: its losses, and what it adds to each gradient, are known when the next chunk takes their memory.

Mirrors: torch/nn/modules/linear_cross_entropy.py
Differs: two functions of autograd, where PyTorch has custom operators with preallocated buffers. All is computed in
    `acc_dtype`, as PyTorch's policy "accurate" does: the policies, which trade precision for memory, are one here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.autograd.function import Function
from glasstorch.core.dtype import HALF_PRECISION, dtype, float32
from glasstorch.core.errors import ArgumentError
from glasstorch.operators.generated import functions as operators


class Layer(NamedTuple):
    """The last layer of a classifier, and what it is applied to."""

    input: Tensor  # (N, F)
    weight: Tensor  # (C, F)
    bias: Tensor | None  # (C,)
    target: Tensor  # (N,)

    def detached(self) -> Layer:
        """The same numbers, apart from any graph."""
        return Layer(*(None if tensor is None else tensor.detach() for tensor in self))  # type: ignore[arg-type]


class Chunks(NamedTuple):
    """How many rows are taken at a time, and what they are computed in."""

    size: int
    dtype: dtype


def row_weights(target: Tensor, weight: Tensor | None, ignore_index: int, dtype: dtype) -> Tensor:
    """What the loss of each row counts: the weight of its class, and 0 where it is ignored."""
    ignored = operators.eq(target, ignore_index)
    if weight is None:
        return (~ignored).to(dtype)
    return weight.to(dtype)[target.masked_fill(ignored, 0)].masked_fill(ignored, 0)


def losses_of(layer: Layer, shares: Tensor, chunks: Chunks) -> Tensor:
    """The loss (N,) of each row times its share."""
    found = []
    for rows, share in zip(_rows(layer, chunks), shares.split(chunks.size), strict=True):
        log_p = operators.log_softmax(_logits(rows), 1)
        found.append(-log_p.gather(1, rows.target[:, None])[:, 0] * share)
    return operators.cat(found) if found else shares


def gradients_of(layer: Layer, shares: Tensor, chunks: Chunks) -> tuple[Tensor, Tensor, Tensor | None]:
    """The gradients of the sum of the losses, with respect to the input, the weight and the bias."""
    to_inputs = []
    to_weight = operators.zeros(layer.weight.shape, dtype=chunks.dtype, device=layer.weight.device)
    to_bias = None if layer.bias is None else to_weight.new_zeros(layer.bias.shape)
    for rows, share in zip(_rows(layer, chunks), shares.split(chunks.size), strict=True):
        slopes = operators.softmax(_logits(rows), 1)  # (rows, C): of the logits
        slopes.scatter_add_(1, rows.target[:, None], -operators.ones_like(share)[:, None])
        slopes *= share[:, None]
        to_inputs.append(slopes @ rows.weight)
        to_weight += slopes.mT @ rows.input
        if to_bias is not None:
            to_bias += slopes.sum(0)
    to_input = operators.cat(to_inputs) if to_inputs else layer.input
    return (
        to_input.to(layer.input.dtype),
        to_weight.to(layer.weight.dtype),
        None if to_bias is None or layer.bias is None else to_bias.to(layer.bias.dtype),
    )


def _rows(layer: Layer, chunks: Chunks) -> list[Layer]:
    """The layer on a few rows each, in the dtype of the chunks."""
    weight = layer.weight.to(chunks.dtype)
    bias = None if layer.bias is None else layer.bias.to(chunks.dtype)
    inputs, targets = layer.input.to(chunks.dtype).split(chunks.size), layer.target.split(chunks.size)
    return [Layer(x, weight, bias, t) for x, t in zip(inputs, targets, strict=True)]


def _logits(rows: Layer) -> Tensor:
    return operators.linear(rows.input, rows.weight, rows.bias)


class _ReducedLoss(Function):
    """The sum of all losses. Their gradients are computed with it, when the logits are there anyway."""

    @staticmethod
    def forward(ctx: Any, layer: Layer, shares: Tensor, chunks: Chunks, keep: bool, *tensors: Tensor) -> Tensor:
        ctx.gradients = gradients_of(layer, shares, chunks) if any(ctx.needs_input_grad) else None
        ctx.keep = keep
        return losses_of(layer, shares, chunks).sum().to(layer.input.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        gradients = ctx.gradients
        if gradients is None:
            raise RuntimeError(
                "linear_cross_entropy chunked backward called twice; retain_graph=True / double backward are not "
                "supported."
            )
        if not ctx.keep:
            ctx.gradients = None
        return (None,) * 4 + _wanted(ctx, [None if g is None else g * grad for g in gradients])


class _UnreducedLoss(Function):
    """The losses of all rows. The gradients are computed when it is known how much each row counts."""

    @staticmethod
    def forward(ctx: Any, layer: Layer, shares: Tensor, chunks: Chunks, keep: bool, *tensors: Tensor) -> Tensor:
        ctx.call = layer, shares, chunks
        return losses_of(layer, shares, chunks).to(layer.input.dtype)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        layer, shares, chunks = ctx.call
        return (None,) * 4 + _wanted(ctx, gradients_of(layer, shares * grad.detach().to(chunks.dtype), chunks))


def _wanted(ctx: Any, gradients: Any) -> tuple[Any, ...]:
    """The gradients of those tensors that need one."""
    return tuple(g if needed else None for g, needed in zip(gradients, ctx.needs_input_grad[4:], strict=False))


def chunked_loss(
    layer: Layer, weight: Tensor | None, reduction: str, ignore_index: int, chunks: Chunks, keep: bool
) -> Tensor:
    """The cross entropy of a linear layer, a chunk of rows at a time.

    Without `keep` the gradients of a reduced loss are given away by the first backward pass, and a second one fails.
    """
    given = layer.input.dtype
    if given is not chunks.dtype and not (given in HALF_PRECISION and chunks.dtype is float32):
        raise ArgumentError(
            f"linear_cross_entropy supports float32 acc_dtype with float16/bfloat16 inputs, but got {chunks.dtype} "
            f"acc_dtype and {given} inputs."
        )
    apart = layer.detached()
    shares = row_weights(apart.target, None if weight is None else weight.detach(), ignore_index, chunks.dtype)
    if reduction == "mean":
        shares = shares / shares.sum()
    target = apart.target.masked_fill(operators.eq(apart.target, ignore_index), 0)
    kind = _UnreducedLoss if reduction == "none" else _ReducedLoss
    tensors = (layer.input, layer.weight) if layer.bias is None else (layer.input, layer.weight, layer.bias)
    return kind.apply(apart._replace(target=target), shares, chunks, keep, *tensors)  # type: ignore[no-any-return]
