"""Which functions drop elements or channels at random?

In training each is dropped with probability `p`, and the others are scaled so that the mean stays; otherwise the result
is the input itself. `inplace` overwrites the input.

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

import warnings

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.errors import ArgumentValueError, ShapeError
from glasstorch.core.plain_types import PLAIN
from glasstorch.operators.generated import functions as operators

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

# of a function for channels: the last sentence of what it says of an input of other dimensions
CHANNELS = (
    "exists to provide channel-wise dropout on inputs with {0} spatial dimension{1}, a channel dimension, and an "
    "optional batch dimension (i.e. {2}D or {3}D inputs)."
)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Each element by itself."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(dropout, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    return (operators.dropout_ if inplace else operators.dropout)(input, p, training)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Elements become what selu makes of very small numbers, and all are moved so that mean and variance stay."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(alpha_dropout, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    return (operators.alpha_dropout_ if inplace else operators.alpha_dropout)(input, p, training)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """As `alpha_dropout`, of whole channels: (N, C, ...)."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(feature_alpha_dropout, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    return (operators.feature_alpha_dropout_ if inplace else operators.feature_alpha_dropout)(input, p, training)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, L) or (C, L)."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(dropout1d, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    dims = input.dim()
    if dims not in (2, 3):
        raise ShapeError(
            f"dropout1d: Expected 2D or 3D input, but received a {dims}D input. Note that dropout1d "
            + CHANNELS.format(1, "", 2, 3)
        )
    return _of_channels(input, p, training, inplace, batched=dims == 3)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, H, W); (N, C, L) is accepted with a warning, and so are other sizes."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(dropout2d, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    dims = input.dim()
    if dims not in (3, 4):
        warnings.warn(_deprecated("dropout2d", dims, 2), stacklevel=2)
    if dims == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
            "desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change "
            "in a future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To "
            "maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _of_channels(input, p, training, inplace, batched=True)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Whole channels of (N, C, D, H, W) or (C, D, H, W); other sizes are accepted with a warning."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(dropout3d, (input,), input, p=p, training=training, inplace=inplace)
    _check_probability(p)
    dims = input.dim()
    if dims not in (4, 5):
        warnings.warn(_deprecated("dropout3d", dims, 3), stacklevel=2)
    return _of_channels(input, p, training, inplace, batched=dims == 5)


def _of_channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Tensor:
    """Dropout of the second dimension, or of the first of an input that is no batch."""
    if not batched:
        input = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = (operators.feature_dropout_ if inplace else operators.feature_dropout)(input, p, training)
    if not batched:
        result = result.squeeze_(0) if inplace else result.squeeze(0)
    return result


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ArgumentValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _deprecated(name: str, dims: int, spatial: int) -> str:
    """The warning of an input of other dimensions."""
    return (
        f"{name}: Received a {dims}-D input to {name}, which is deprecated and will result in an error in a future "
        f"release. To retain the behavior and silence this warning, please use dropout instead. Note that {name} "
        + CHANNELS.format(spatial, "s", spatial + 1, spatial + 2)
    )
