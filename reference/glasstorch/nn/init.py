"""What are parameters initialised to?

Mirrors: torch/nn/init.py

Equal seeds give PyTorch's weights, bit for bit: each function draws the same random numbers as PyTorch's, in the same
order. Only `orthogonal_` uses another QR factorisation, whose result agrees up to rounding.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.plain_types import PLAIN
from glasstorch.core.random.generator import Generator
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.operators.generated import functions as operators

__all__ = [
    "calculate_gain",
    "uniform_",
    "normal_",
    "trunc_normal_",
    "constant_",
    "ones_",
    "zeros_",
    "eye_",
    "dirac_",
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
    "orthogonal_",
    "sparse_",
    "uniform",
    "normal",
    "constant",
    "eye",
    "dirac",
    "xavier_uniform",
    "xavier_normal",
    "kaiming_uniform",
    "kaiming_normal",
    "orthogonal",
    "sparse",
]

# By how much a layer must scale the standard deviation, so that the nonlinearity after it does not shrink the signal.
GAINS = {
    "linear": 1,
    "conv1d": 1,
    "conv2d": 1,
    "conv3d": 1,
    "conv_transpose1d": 1,
    "conv_transpose2d": 1,
    "conv_transpose3d": 1,
    "sigmoid": 1,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The recommended gain for a nonlinearity; `param` is the slope of `leaky_relu` below zero.

    >>> calculate_gain("leaky_relu", 0.0) == calculate_gain("relu")
    True
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {slope} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with uniform random numbers from [a, b)."""
    if type(tensor) not in PLAIN and has_torch_function_unary(tensor):
        return handle_torch_function(uniform_, (tensor,), tensor=tensor, a=a, b=b, generator=generator)
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill with normally distributed random numbers."""
    if type(tensor) not in PLAIN and has_torch_function_unary(tensor):
        return handle_torch_function(normal_, (tensor,), tensor=tensor, mean=mean, std=std, generator=generator)
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


# With a smaller share of a normal distribution inside the bounds, rejection would redraw too often.
LEAST_SHARE = 0.3


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill with a normal distribution truncated to [a, b]: numbers outside are drawn again.

    Where most would be outside, rejection sampling draws uniform numbers from [a, b] instead, and accepts each with the
    probability density there divided by the largest density between the bounds.
    """
    if tensor.is_meta:
        return tensor
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    below = [(1 + math.erf((bound - mean) / std / math.sqrt(2))) / 2 for bound in (a, b)]
    with no_grad():
        if below[1] - below[0] > LEAST_SHARE:
            return _redrawn_outside(tensor, mean, std, a, b, generator)
        return _accepted_by_chance(tensor, mean, std, a, b, generator)


def _redrawn_outside(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    low, high = (tensor.new_tensor(bound, device="cpu").item() for bound in (a, b))  # as the dtype holds them
    tensor.normal_(mean, std, generator=generator)
    while (outside := (tensor < low) | (tensor > high)).any():
        again = operators.empty_like(tensor).normal_(mean, std, generator=generator)
        tensor.copy_(operators.where(outside, again, tensor))
    return tensor


def _accepted_by_chance(
    tensor: Tensor, mean: float, std: float, a: float, b: float, generator: Generator | None
) -> Tensor:
    highest = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    tensor.uniform_(a, b, generator=generator)
    proposed, refused = tensor.clone(), None
    while True:
        height = proposed.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(highest)  # a logarithm, at most 0
        below_chance = operators.empty_like(tensor).uniform_(generator=generator).log_().gt(height)
        refused = below_chance if refused is None else refused & below_chance
        if not refused.any():
            return tensor
        proposed = operators.empty_like(tensor).uniform_(a, b, generator=generator)
        tensor.copy_(operators.where(refused, proposed, tensor))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one value."""
    if type(tensor) not in PLAIN and has_torch_function_unary(tensor):
        return handle_torch_function(constant_, (tensor,), tensor=tensor, val=val)
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with 0."""
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity: a linear layer with it passes on as many inputs as possible."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        operators.eye(tensor.size(0), tensor.size(1), out=tensor)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight, of shape (out, in, *kernel), so that it passes on as many channels as possible.

    With several groups, each group does so.
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups:
        raise ValueError("dim 0 must be divisible by groups")
    if tensor.is_meta:
        return tensor
    channels = tensor.size(0) // groups  # per group
    centre = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(channels, tensor.size(1))):
                tensor[(group * channels + channel, channel, *centre)] = 1
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Glorot and Bengio's uniform initialisation: variance `gain ** 2 * 2 / (fan_in + fan_out)`."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Glorot and Bengio's normal initialisation; see `xavier_uniform_`."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """He's uniform initialisation: keeps the variance in the forward (`fan_in`) or backward (`fan_out`) pass.

    `a` is the negative slope of the leaky ReLU that follows.
    """
    if type(tensor) not in PLAIN and has_torch_function_unary(tensor):
        return handle_torch_function(
            kaiming_uniform_, (tensor,), tensor=tensor, a=a, mode=mode, nonlinearity=nonlinearity, generator=generator
        )
    if _is_empty(tensor.numel()):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    std = calculate_gain(nonlinearity, a) / math.sqrt(fan)
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """He's normal initialisation; see `kaiming_uniform_`."""
    if _is_empty(math.prod(tensor.shape)):
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    std = calculate_gain(nonlinearity, a) / math.sqrt(fan)
    return normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill with a matrix whose rows, or columns if it has fewer of those, are orthogonal and have length `gain`.

    It is the Q of a QR factorisation of normal random numbers, with signs that make the diagonal of R positive.
    Dimensions after the first are flattened.
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel() or tensor.is_meta:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    with no_grad():
        q, r = operators.linalg_qr(drawn.t() if rows < columns else drawn)
        q = q * operators.diagonal(r).sign()
        tensor.view(rows, columns).copy_(q.t() if rows < columns else q)
        return tensor.mul_(gain)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fill a matrix with normal random numbers, and set the fraction `sparsity` of each column to zero."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if tensor.is_meta:
        return tensor
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[operators.randperm(rows)[:zeros], column] = 0
    return tensor


def _is_empty(elements: int) -> bool:
    if elements == 0:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return elements == 0


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """The fan-in and fan-out of a weight: how many inputs an output has, and how many outputs an input has.

    `tensor` is a weight of shape (out, in, *kernel).
    """
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    kernel = math.prod(tensor.shape[2:])
    return tensor.size(1) * kernel, tensor.size(0) * kernel


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode, modes = mode.lower(), ["fan_in", "fan_out"]
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


# Names from before a function that changes its argument ended in an underscore ----------------------------------------


def _deprecated(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    old = function.__name__.removesuffix("_")

    def initialise(*args: Any, **kwargs: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{function.__name__}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    initialise.__name__ = initialise.__qualname__ = old
    initialise.__doc__ = f"The same as `{function.__name__}`; deprecated."
    return initialise


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)

# Names that programs use although they are PyTorch's own.
_no_grad_uniform_ = uniform_
_no_grad_normal_ = normal_
_no_grad_trunc_normal_ = trunc_normal_
_no_grad_fill_ = constant_
_no_grad_zero_ = zeros_


__getattr__ = refuse_unknown_names(__name__)
