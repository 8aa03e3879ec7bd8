"""Which functions look up rows of a table?

Gradients are dense: `sparse=True` is refused when one is needed.

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

import warnings

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentValueError
from glasstorch.operators.generated import functions as operators
from glasstorch.operators.shapes.embedding import MAX, MEAN, SUM

__all__ = ["embedding", "embedding_bag", "one_hot"]

MODES = {"sum": SUM, "mean": MEAN, "max": MAX}

one_hot = operators.one_hot


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` (V, D) that the indices `input` (...) name: (..., D).

    The row `padding_idx` gets no gradient. `max_norm` first shortens the rows that are looked up, in place.
    `scale_grad_by_freq` divides the gradient of each row by how often it was looked up.
    """
    padding = -1 if padding_idx is None else _padding_row(padding_idx, weight)
    if max_norm is not None:
        input = input.contiguous()
        operators.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    return operators.embedding(weight, input, padding, scale_grad_by_freq, sparse)


def _padding_row(padding_idx: int, weight: Tensor) -> int:
    """The row of the padding, which may be counted from the end."""
    rows = weight.size(0)
    if not (-rows <= padding_idx < rows or padding_idx == 0):
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx + rows if padding_idx < 0 else padding_idx


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of `weight` (V, D) in each bag of indices: (B, D).

    Each row of an `input` (B, L) is a bag; in an input (N), bag i begins at `offsets[i]`, and with
    `include_last_offset` the last offset is the end of the last bag. `per_sample_weights`, of the input's shape, scale
    the rows of a sum. Indices equal to `padding_idx` do not count.
    """
    if weight.dtype is int64 and input.is_floating_point():
        warnings.warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
            stacklevel=2,
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ArgumentValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ArgumentValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    include_last_offset = include_last_offset and input.dim() == 1
    input, offsets, per_sample_weights = _in_one_row(input, offsets, per_sample_weights)
    number = _mode_number(mode, scale_grad_by_freq, sparse)
    if max_norm is not None:
        operators.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    how = (scale_grad_by_freq, number, sparse, per_sample_weights, include_last_offset, padding_idx)
    result: Tensor = operators.embedding_bag(weight, input, offsets, *how)[0]
    return result


def _in_one_row(
    input: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Indices, the beginnings of bags, and weights as vectors."""
    if input.dim() == 2:
        if offsets is not None:
            raise ArgumentValueError(
                f"if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        begins = operators.arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        return input.reshape(-1), begins, None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if input.dim() != 1:
        raise ArgumentValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ArgumentValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ArgumentValueError("offsets has to be a 1D Tensor")
    return input, offsets, per_sample_weights


def _mode_number(mode: str, scale_grad_by_freq: bool, sparse: bool) -> int:
    """The operator's number for a mode; the maximum has fewer options."""
    if mode not in MODES:
        raise ArgumentValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ArgumentValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ArgumentValueError("max mode does not support sparse weights")
    return MODES[mode]
