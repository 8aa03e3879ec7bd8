"""How far are predictions from targets?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

import warnings

from glasstorch._tensor import Tensor
from glasstorch.nn.functions.reduction import reduction_name, reduction_number
from glasstorch.operators.generated import functions as operators

__all__ = ["cross_entropy", "mse_loss", "nll_loss"]


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
    """`nll_loss` of `log_softmax`. `target` holds class indices, or probabilities in the input's shape."""
    reduction = reduction_name(size_average, reduce, reduction)
    return operators.cross_entropy_loss(
        input, target, weight, reduction_number(reduction), ignore_index, label_smoothing
    )


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The squared difference of two tensors of one shape, averaged unless `reduction` says otherwise."""
    reduction = reduction_name(size_average, reduce, reduction)
    if target.shape != input.shape:
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). "
            "This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=2,
        )
    return operators.mse_loss(input, target, reduction_number(reduction))
