"""Which functions do layers compute?

Mirrors: torch/nn/functional.py
Differs: only the functions whose operators exist.

Each calls an operator, and has PyTorch's Python signature: strings such as "mean" are converted to the operator's
numbers here.
"""

from __future__ import annotations

import warnings

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.operators.generated import functions as operators

__all__ = [
    "linear",
    "relu",
    "tanh",
    "sigmoid",
    "softmax",
    "log_softmax",
    "nll_loss",
    "cross_entropy",
    "mse_loss",
    "pdist",
]

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norm distances between all pairs of rows: (n, m) gives a vector of n * (n - 1) / 2."""
    return operators.pdist(input, p)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`: (..., in_features) gives (..., out_features).

    `weight` has shape (out_features, in_features) or (in_features,), `bias` (out_features,) or ().
    """
    return operators.linear(input, weight, bias, out=out)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The input where it is positive, else 0; a new tensor, or the input itself if `inplace`."""
    return operators.relu_(input) if inplace else operators.relu(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return operators.tanh(input)


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-input))`."""
    return operators.sigmoid(input)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """Positive numbers that sum to 1 along a dimension."""
    return operators.softmax(input, _softmax_dim("softmax", input, dim, _stacklevel), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """The logarithm of `softmax`, computed so that no intermediate result overflows or underflows."""
    return operators.log_softmax(input, _softmax_dim("log_softmax", input, dim, _stacklevel), dtype)


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


def reduction_name(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction, also from the two flags that expressed it before PyTorch 0.4.1."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        reduction = "none"
    else:
        reduction = "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
        stacklevel=3,
    )
    return reduction


def reduction_number(reduction: str) -> int:
    """A reduction as the number that operators take."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction; expected one of {', '.join(REDUCTIONS)}")
    return REDUCTIONS[reduction]


def _softmax_dim(name: str, input: Tensor, dim: int | None, stacklevel: int) -> int:
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if input.dim() in (0, 1, 3) else 1


__getattr__ = refuse_unknown_names(__name__)
