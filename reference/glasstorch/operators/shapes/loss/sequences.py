"""What shapes does ctc_loss have, and which lengths are refused?

Mirrors: aten/src/ATen/native/LossCTC.cpp (ctc_loss_allocate_outputs)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import INTEGRAL, float32, float64, int32, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    zero_infinity: bool,
) -> tuple[Result, Result]:
    """The loss of each sequence (N), and the log probabilities (N, T, 2 * S + 1) of beginnings at each step.

    `log_probs` is (T, N, C), `targets` (N, S) or all sequences one after the other.
    """
    if targets.dtype not in (int32, int64):
        raise DtypeError(
            f"Expected tensor for argument #2 'targets' to have scalar type Int; but got torch."
            f"{targets.dtype.scalar_name}Tensor instead {CHECKING}"
        )
    _check_implemented("ctc_loss_cpu", log_probs)
    _check_sizes(log_probs, targets, blank)
    steps, batch, _ = log_probs._shape
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if len(lengths) != batch:
            raise ShapeError(f"{name} must be of size batch_size")
    _check_lengths("target_lengths", target_lengths)
    _check_targets(targets, target_lengths)
    _check_lengths("input_lengths", input_lengths, steps)
    states = 2 * max(target_lengths) + 1 if batch else 1
    return Result((batch,), log_probs.dtype), Result((batch, steps, states), log_probs.dtype)


def ctc_loss_of_tensors(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    zero_infinity: bool,
) -> tuple[Result, Result]:
    """As ctc_loss; the lengths are read."""
    lengths = lengths_of(input_lengths, target_lengths)
    return ctc_loss(log_probs, targets, *lengths, blank, zero_infinity)


def ctc_loss_backward(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Result:
    """The shape of the log probabilities."""
    _check_implemented("ctc_loss_backward_cpu", log_probs)
    _check_sizes(log_probs, targets, blank)
    _check_targets(targets, target_lengths)
    return Result(log_probs._shape, log_probs.dtype)


def ctc_loss_backward_of_tensors(
    grad: Tensor,
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    neg_log_likelihood: Tensor,
    log_alpha: Tensor,
    blank: int,
    zero_infinity: bool,
) -> Result:
    """As ctc_loss_backward; the lengths are read."""
    lengths = lengths_of(input_lengths, target_lengths)
    return ctc_loss_backward(grad, log_probs, targets, *lengths, neg_log_likelihood, log_alpha, blank, zero_infinity)


def lengths_of(input_lengths: Tensor, target_lengths: Tensor) -> tuple[list[int], list[int]]:
    """The elements of both tensors; other numbers than integers are refused."""
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if lengths.dtype.category != INTEGRAL:
            raise DtypeError(f"{name} must be integral")
    return input_lengths.flatten().tolist(), target_lengths.flatten().tolist()


def _check_implemented(kernel: str, log_probs: Tensor) -> None:
    if log_probs.dtype not in (float32, float64):
        raise not_implemented_for(kernel, log_probs.dtype)


def _check_sizes(log_probs: Tensor, targets: Tensor, blank: int) -> None:
    if not log_probs.numel():
        raise ShapeError("log_probs tensor must not be empty")
    if len(log_probs._shape) != 3:
        raise ShapeError(
            f"Expected 3-dimensional tensor, but got {len(log_probs._shape)}-dimensional tensor for argument #1 "
            f"'log_probs' {CHECKING}"
        )
    if len(targets._shape) not in (1, 2):
        raise ShapeError(
            f"Expected 1 to 2 dimensions, but got {len(targets._shape)}-dimensional tensor for argument #2 'targets' "
            f"{CHECKING}"
        )
    if not 0 <= blank < log_probs._shape[2]:
        raise ArgumentError("blank must be in label range")


def _check_lengths(name: str, lengths: Sequence[int], longest: int | None = None) -> None:
    for length in lengths:
        if length < 0:
            raise ArgumentError(f"Expected {name} to have value at least 0, but got value {length} {CHECKING}")
        if longest is not None and length > longest:
            raise ArgumentError(f"Expected {name} to have value at most {longest}, but got value {length} {CHECKING}")


def _check_targets(targets: Tensor, target_lengths: Sequence[int]) -> None:
    """As many targets as the lengths say, in a row or in a row each."""
    stated = "for argument #2 'targets' " + CHECKING
    rows = sum(target_lengths) if len(targets._shape) == 1 else len(target_lengths)
    if targets._shape[0] != rows:
        raise ShapeError(
            f"Expected tensor to have size {rows} at dimension 0, but got size {targets._shape[0]} {stated}"
        )
    longest = max(target_lengths, default=0)
    if len(targets._shape) == 2 and targets._shape[1] < longest:
        raise ShapeError(
            f"Expected tensor to have size at least {longest} at dimension 1, but got size {targets._shape[1]} {stated}"
        )
