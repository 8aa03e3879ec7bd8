"""How far are predictions from targets, element by element?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

import math
import warnings

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_variadic
from glasstorch.nn.functions.reduction import reduction_name, reduction_number
from glasstorch.operators.generated import functions as operators

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "gaussian_nll_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "multilabel_soft_margin_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
]

# Differences ----------------------------------------------------------------------------------------------------


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The absolute difference of two tensors of one shape; the mean is weighted by `weight`, of that shape too."""
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(
            l1_loss,
            (input, target, weight),
            input,
            target,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
        )
    _warn_of_sizes(input, target)
    reduction = reduction_name(size_average, reduce, reduction)
    input, target = operators.broadcast_tensors([input, target])
    if weight is None:
        return operators.l1_loss(input, target, reduction_number(reduction))
    _check_weight(input, weight)
    return _weighted(operators.abs(input - target), weight, reduction)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The squared difference of two tensors of one shape; the mean is weighted by `weight`, of that shape too."""
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(
            mse_loss,
            (input, target, weight),
            input,
            target,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
            weight=weight,
        )
    if target.shape != input.shape:
        _warn_of_sizes(input, target)
    reduction = reduction_name(size_average, reduce, reduction)
    if weight is None:
        return operators.mse_loss(input, target, reduction_number(reduction))
    _check_weight(input, weight)
    return _weighted(operators.pow(input - target, 2), weight, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """The squared difference, divided by `2 * beta`, where it is below beta, else the absolute one minus `beta / 2`."""
    if has_torch_function_variadic(input, target):
        return handle_torch_function(
            smooth_l1_loss,
            (input, target),
            input,
            target,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
            beta=beta,
        )
    _warn_of_sizes(input, target)
    number = reduction_number(reduction_name(size_average, reduce, reduction))
    input, target = operators.broadcast_tensors([input, target])
    if beta == 0:
        return operators.l1_loss(input, target, number)
    return operators.smooth_l1_loss(input, target, number, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Half the squared difference where it is below delta, else `delta` times the absolute one minus `delta / 2`.

    `weight`, of that shape too, multiplies the losses; the mean is that of the products.
    """
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(
            huber_loss, (input, target, weight), input, target, reduction=reduction, delta=delta, weight=weight
        )
    _warn_of_sizes(input, target)
    expanded, target = operators.broadcast_tensors([input, target])
    if weight is None:
        return operators.huber_loss(expanded, target, reduction_number(reduction), delta)
    _check_weight(input, weight)
    return _reduced(operators.huber_loss(expanded, target, reduction_number("none"), delta) * weight, reduction)


def _warn_of_sizes(input: Tensor, target: Tensor) -> None:
    if target.shape != input.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=3,
        )


def _check_weight(input: Tensor, weight: Tensor) -> None:
    if weight.shape != input.shape:
        raise ValueError("Weights and input must have the same size.")


def _weighted(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Weighted losses, their sum, or their sum divided by that of the weights."""
    losses = losses * weight
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction == "mean":
        return losses.sum() / weight.sum()
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")


# Two classes ----------------------------------------------------------------------------------------------------


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`-(target * log(input) + (1 - target) * log(1 - input))` of probabilities; `weight` broadcasts to the target."""
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(
            binary_cross_entropy,
            (input, target, weight),
            input,
            target,
            weight=weight,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
        )
    number = reduction_number(reduction_name(size_average, reduce, reduction))
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = operators.broadcast_tensors([weight, target])[0]
    return operators.binary_cross_entropy(input, target, weight, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of the sigmoid of logits, without overflow; `pos_weight` weighs what true targets add."""
    if has_torch_function_variadic(input, target, weight, pos_weight):
        return handle_torch_function(
            binary_cross_entropy_with_logits,
            (input, target, weight, pos_weight),
            input,
            target,
            weight=weight,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
            pos_weight=pos_weight,
        )
    number = reduction_number(reduction_name(size_average, reduce, reduction))
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    return operators.binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`log(1 + exp(-target * input))` for targets 1 and -1."""
    if has_torch_function_variadic(input, target):
        return handle_torch_function(
            soft_margin_loss,
            (input, target),
            input,
            target,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
        )
    number = reduction_number(reduction_name(size_average, reduce, reduction))
    return operators.soft_margin_loss(input, target, number)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`binary_cross_entropy_with_logits`, averaged over the last dimension: (N, C) gives (N,), unless reduced."""
    if has_torch_function_variadic(input, target, weight):
        return handle_torch_function(
            multilabel_soft_margin_loss,
            (input, target, weight),
            input,
            target,
            weight=weight,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
        )
    reduction = reduction_name(size_average, reduce, reduction)
    loss = -(target * _log_sigmoid(input) + (1 - target) * _log_sigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduced(loss.sum(-1) / input.size(-1), reduction)


def _log_sigmoid(input: Tensor) -> Tensor:
    return -operators.logaddexp(-input, operators.zeros_like(input))


# Distributions --------------------------------------------------------------------------------------------------


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """`target * (log(target) - input)`: how far log-probabilities are from probabilities, or from logarithms of them.

    "batchmean" divides the sum by the size of the first dimension, as the Kullback-Leibler divergence is defined.
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(
            kl_div,
            (input, target),
            input,
            target,
            size_average=size_average,
            reduce=reduce,
            reduction=reduction,
            log_target=log_target,
        )
    by_batch = reduction == "batchmean" and size_average is None and reduce is None
    if size_average is None and reduce is None and reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    number = reduction_number("sum" if by_batch else reduction_name(size_average, reduce, reduction))
    loss = operators.kl_div(input, target, number, log_target=log_target)
    return loss / input.size(0) if by_batch and input.dim() else loss


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood of counts under Poisson distributions, whose rates, or their logarithms, are given.

    `full` adds Stirling's approximation of the logarithm of the factorial of targets above 1.
    """
    if has_torch_function_variadic(input, target):
        return handle_torch_function(
            poisson_nll_loss,
            (input, target),
            input,
            target,
            log_input=log_input,
            full=full,
            size_average=size_average,
            eps=eps,
            reduce=reduce,
            reduction=reduction,
        )
    number = reduction_number(reduction_name(size_average, reduce, reduction))
    return operators.poisson_nll_loss(input, target, log_input, full, eps, number)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log-likelihood under normal distributions of means `input` and variances `var`, at least `eps`.

    `var` has the shape of the input, or 1 in place of one size, or lacks the last one; `full` adds the constant term.
    """
    if has_torch_function_variadic(input, target, var):
        return handle_torch_function(
            gaussian_nll_loss, (input, target, var), input, target, var, full=full, eps=eps, reduction=reduction
        )
    var = _variance(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (operators.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced(loss, reduction)


def _variance(input: Tensor, var: Tensor | float) -> Tensor:
    """The variances, in a shape that broadcasts to that of the input."""
    negative = var < 0 if isinstance(var, float) else (var < 0).any()
    if negative:
        raise ValueError("var has negative entry/entries")
    if isinstance(var, float):
        return var * operators.ones_like(input)
    if var.shape == input.shape:
        return var
    if input.shape[:-1] == var.shape:
        return var.unsqueeze(-1)
    ones = [mine for wanted, mine in zip(input.shape, var.shape, strict=False) if wanted != mine]
    if input.ndim != var.ndim or sum(ones) != 1:
        raise ValueError("var is of incorrect size")
    return var


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    raise ValueError(reduction + " is not valid")
