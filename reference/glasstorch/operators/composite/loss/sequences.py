"""How is the connectionist temporal classification loss reduced over a batch?

Mirrors: aten/src/ATen/native/LossCTC.cpp (ctc_loss_impl, ctc_loss)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import int64
from glasstorch.core.hooks import decides
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.loss.sequences import lengths_of
from glasstorch.operators.shapes.loss.shared import MEAN, SUM

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    reduction: int,
    zero_infinity: bool,
) -> Tensor:
    """The loss of sequences (T, N, C) or of one (T, C); the mean is of losses divided by the lengths of targets."""
    losses = _losses(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
    lengths = losses.new_tensor([max(1, length) for length in target_lengths]) if reduction == MEAN else None
    return _reduced(log_probs, losses, lengths, reduction)


def _losses(log_probs: Tensor, targets: Tensor, *more: Any) -> Tensor:
    """The loss of each sequence; `more` are the lengths of inputs and targets, blank and zero_infinity."""
    inputs = log_probs if len(log_probs._shape) == 3 else log_probs.unsqueeze(1)
    losses: Tensor = f._ctc_loss(inputs, targets.to(int64), *more)[0]
    return losses.masked_fill(losses == inf, 0) if more[-1] else losses


def _reduced(log_probs: Tensor, losses: Tensor, lengths: Any, reduction: int) -> Tensor:
    """The losses as they are, their sum, or the mean of them divided by the lengths of targets."""
    if reduction == MEAN:
        return (losses / lengths).mean()  # type: ignore[no-any-return]
    if reduction == SUM:
        return losses.sum()
    return losses if len(log_probs._shape) == 3 else losses.squeeze(0)


def ctc_loss_of_tensors(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    reduction: int,
    zero_infinity: bool,
) -> Tensor:
    """As ctc_loss; the lengths are read, unless each example of a batch has its own."""
    if not (decides(input_lengths) and decides(target_lengths)):
        losses = _losses(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
        return _reduced(log_probs, losses, target_lengths.clamp(min=1), reduction)
    lengths = lengths_of(input_lengths, target_lengths)
    return ctc_loss(log_probs, targets, *lengths, blank, reduction, zero_infinity)
