"""How are elements, or whole channels, dropped at random?

Mirrors: aten/src/ATen/native/Dropout.cpp (_dropout_impl), torch/_decomp/decompositions.py (dropout)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING

from glasstorch.core.dtype import bool_
from glasstorch.core.errors import ArgumentError
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

ALPHA = (
    1.7580993408473766  # minus the limit of selu for small numbers: what alpha dropout puts in the place of elements
)

div_number_ = on_tensors("div_.Scalar")
# Whether dropout stays one operator, native_dropout, whose mask is a result: so it is in a graph with its gradients.
as_one_operator: ContextVar[bool] = ContextVar("as_one_operator", default=False)

Dropout = Callable[["Tensor", float, bool], "Tensor"]


def _dropped(input: Tensor, p: float, train: bool, of_features: bool, alpha: bool, in_place: bool) -> Tensor:
    """The input times random numbers of mean 1, which are 0 with probability p; or the input itself.

    `of_features` draws one for each channel, `alpha` keeps mean and variance of what has passed selu.
    """
    if not 0 <= p <= 1:
        raise ArgumentError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    if p == 0 or not train or not input.numel():
        return input
    if as_one_operator.get() and not (of_features or alpha or in_place):
        return f.native_dropout(input, p, train)[0]  # type: ignore[no-any-return]
    times = f.mul_ if in_place else f.mul
    if p == 1:
        return times(input, f.zeros([], dtype=input.dtype, device=input.device))
    noise = (_for_each_channel(input) if of_features else f.empty_like(input)).bernoulli_(1 - p)
    if not alpha:
        return times(input, div_number_(noise, 1 - p))
    scale = 1 / math.sqrt((ALPHA * ALPHA * p + 1) * (1 - p))
    shift = noise.add(-1).mul_(ALPHA * scale).add_(ALPHA * scale * p)
    return times(input, noise.mul_(scale)).add_(shift)


def _for_each_channel(input: Tensor) -> Tensor:
    """An uninitialised number for each of the first two dimensions."""
    if input.dim() < 2:
        raise ArgumentError("Feature dropout requires at least 2 dimensions in the input")
    return input.new_empty((*input.shape[:2], *[1] * (input.dim() - 2)))


def _operator(doc: str, of_features: bool, alpha: bool, in_place: bool = False) -> Dropout:
    def operator(input: Tensor, p: float, train: bool) -> Tensor:
        return _dropped(input, p, train, of_features, alpha, in_place)

    operator.__doc__ = doc
    return operator


dropout = _operator("Each element is dropped by itself.", of_features=False, alpha=False)
dropout_ = _operator("As dropout, in place.", of_features=False, alpha=False, in_place=True)
feature_dropout = _operator("Whole channels are dropped.", of_features=True, alpha=False)
feature_dropout_ = _operator("As feature_dropout, in place.", of_features=True, alpha=False, in_place=True)
alpha_dropout = _operator("Dropout that keeps mean and variance after selu.", of_features=False, alpha=True)
alpha_dropout_ = _operator("As alpha_dropout, in place.", of_features=False, alpha=True, in_place=True)
feature_alpha_dropout = _operator("As alpha_dropout, of whole channels.", of_features=True, alpha=True)
feature_alpha_dropout_ = _operator("As feature_alpha_dropout, in place.", of_features=True, alpha=True, in_place=True)

# With the mask that was drawn ------------------------------------------------------------------------------------


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """What dropout leaves, and the mask of it; without `train` it is training too."""
    if not input.numel():
        return input, f.empty_like(input)
    if train is False:
        return input.clone(), f.ones_like(input, dtype=bool_)
    mask = f.empty_like(input, dtype=bool_).bernoulli_(1 - p)
    return input.mul(mask).mul_(0.0 if p == 1 else 1 / (1 - p)), mask


def native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Tensor:
    """The gradient of what was left."""
    return grad_output.mul(mask) * scale
