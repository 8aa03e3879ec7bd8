"""How far are scores from the classes that are right?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_variadic
from glasstorch.nn.functions.reduction import reduction_name, reduction_number
from glasstorch.operators.generated import functions as operators

__all__ = ["cross_entropy", "ctc_loss", "multi_margin_loss", "multilabel_margin_loss", "nll_loss"]


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood: minus the log-probability of the target class.

    `input` has shape (N, C, ...) or (C,), `target` holds class indices and has shape (N, ...) or (). The mean is
    weighted by the target classes' `weight`, of shape (C,).
    """
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(
            nll_loss,
            (input, target, weight),
            input,
            target,
            weight=weight,
            size_average=size_average,
            ignore_index=ignore_index,
            reduce=reduce,
            reduction=reduction,
        )
    reduction = reduction_name(size_average, reduce, reduction)
    return operators.nll_loss_nd(input, target, weight, reduction_number(reduction), ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of `log_softmax`: minus the log-probability of the target class.

    `input` holds logits (N, C, ...) or (C,). `target` holds class indices, int64 of shape (N, ...) or (), or
    probabilities of the input's shape and dtype. `label_smoothing`, from 0 to 1, is the share of the target that goes
    to all classes alike.
    """
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(
            cross_entropy,
            (input, target, weight),
            input,
            target,
            weight=weight,
            size_average=size_average,
            ignore_index=ignore_index,
            reduce=reduce,
            reduction=reduction,
            label_smoothing=label_smoothing,
        )
    reduction = reduction_name(size_average, reduce, reduction)
    return operators.cross_entropy_loss(
        input, target, weight, reduction_number(reduction), ignore_index, label_smoothing
    )


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """What each class lacks of the margin to the target class, to the power `p` (1 or 2), averaged over the classes.

    `input` has shape (N, C) or (C,), `target` (N,) or (), `weight` (C,).
    """
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(
            multi_margin_loss,
            (input, target, weight),
            input,
            target,
            p=p,
            margin=margin,
            weight=weight,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
        )
    number = reduction_number(reduction_name(size_average, reduce, reduction))
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return operators.multi_margin_loss(input, target, p, margin, weight, number)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """What classes that are no targets lack of the margin 1 to all targets, averaged over the classes.

    Both have shape (N, C) or (C,); `target` holds the numbers of classes, and -1 behind the last.
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(
            multilabel_margin_loss,
            (input, target),
            input,
            target,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
        )
    number = reduction_number(reduction_name(size_average, reduce, reduction))
    return operators.multilabel_margin_loss(input, target, number)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-probability of each target sequence, whatever steps of the input its labels stand at.

    `log_probs` has shape (T, N, C) or (T, C), `targets` (N, S), or (sum of lengths) with all targets in a row; lengths
    are tensors (N,) or (), or tuples. A loss is infinite where the input is too short: `zero_infinity` makes it 0.
    """
    if has_torch_function_variadic(log_probs, targets, input_lengths, target_lengths):
        return handle_torch_function(
            ctc_loss,
            (log_probs, targets, input_lengths, target_lengths),
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            blank=blank,
            reduction=reduction,
            zero_infinity=zero_infinity,
        )
    number = reduction_number(reduction)
    return operators.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, number, zero_infinity)
