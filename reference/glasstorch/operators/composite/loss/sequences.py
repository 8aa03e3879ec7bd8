"""How is the connectionist temporal classification loss reduced over a batch?

Mirrors: aten/src/ATen/native/LossCTC.cpp (ctc_loss_impl, ctc_loss)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from glasstorch.core.dtype import int64
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
    batched = len(log_probs._shape) == 3
    inputs = log_probs if batched else log_probs.unsqueeze(1)
    losses = f._ctc_loss(inputs, targets.to(int64), input_lengths, target_lengths, blank, zero_infinity)[0]
    if zero_infinity:
        losses = losses.masked_fill(losses == inf, 0)
    if reduction == MEAN:
        lengths = losses.new_tensor([max(1, length) for length in target_lengths])
        return (losses / lengths).mean()  # type: ignore[no-any-return]
    if reduction == SUM:
        return losses.sum()  # type: ignore[no-any-return]
    return losses if batched else losses.squeeze(0)  # type: ignore[no-any-return]


def ctc_loss_of_tensors(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    reduction: int,
    zero_infinity: bool,
) -> Tensor:
    """As ctc_loss; the lengths are read."""
    lengths = lengths_of(input_lengths, target_lengths)
    return ctc_loss(log_probs, targets, *lengths, blank, reduction, zero_infinity)
