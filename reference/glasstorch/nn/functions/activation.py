"""Which functions are applied between layers?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

import warnings

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.dtype import Number
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ShapeError
from glasstorch.core.layout import contiguous_format
from glasstorch.core.plain_types import PLAIN
from glasstorch.operators.generated import functions as operators

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

# Operators under their own names: those with `_` write to their input
celu_ = operators.celu_
elu_ = operators.elu_
gelu = operators.gelu
hardshrink = operators.hardshrink
hardtanh_ = operators.hardtanh_
leaky_relu_ = operators.leaky_relu_
logsigmoid = operators.log_sigmoid
prelu = operators.prelu
relu_ = operators.relu_
rrelu_ = operators.rrelu_
selu_ = operators.selu_
softplus = operators.softplus
softshrink = operators.softshrink
threshold_ = operators.threshold_

# Rectifiers: `inplace` overwrites the input ---------------------------------------------------------------------------


def threshold(input: Tensor, threshold: Number, value: Number, inplace: bool = False) -> Tensor:
    """The input where it is above the threshold, else a value."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(_threshold, (input,), input, threshold, value, inplace=inplace)
    return (operators.threshold_ if inplace else operators.threshold)(input, threshold, value)


_threshold = threshold  # under a name that is no parameter


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The input where it is positive, else 0; a new tensor, or the input itself if `inplace`."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(relu, (input,), input, inplace=inplace)
    return operators.relu_(input) if inplace else operators.relu(input)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """The input between 0 and 6."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(relu6, (input,), input, inplace=inplace)
    return operators.relu6_(input) if inplace else operators.relu6(input)


def hardtanh(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0, inplace: bool = False) -> Tensor:
    """The input between two bounds."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(hardtanh, (input,), input, min_val=min_val, max_val=max_val, inplace=inplace)
    if min_val > max_val:  # type: ignore[operator]  # complex bounds are refused by Python
        raise ValueError("min_val cannot be greater than max_val")
    return (operators.hardtanh_ if inplace else operators.hardtanh)(input, min_val, max_val)


def leaky_relu(input: Tensor, negative_slope: Number = 0.01, inplace: bool = False) -> Tensor:
    """The input, multiplied by a slope where it is negative."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(leaky_relu, (input,), input, negative_slope=negative_slope, inplace=inplace)
    return (operators.leaky_relu_ if inplace else operators.leaky_relu)(input, negative_slope)


def rrelu(
    input: Tensor, lower: Number = 1.0 / 8, upper: Number = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """As `leaky_relu`, in training with a slope drawn for each element, else with the middle one."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            rrelu, (input,), input, lower=lower, upper=upper, training=training, inplace=inplace
        )
    return (operators.rrelu_ if inplace else operators.rrelu)(input, lower, upper, training)


def elu(input: Tensor, alpha: Number = 1.0, inplace: bool = False) -> Tensor:
    """The input, or `alpha * (exp(input) - 1)` where it is negative."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(elu, (input,), input, alpha=alpha, inplace=inplace)
    return (operators.elu_ if inplace else operators.elu)(input, alpha)


def celu(input: Tensor, alpha: Number = 1.0, inplace: bool = False) -> Tensor:
    """The input, or `alpha * (exp(input / alpha) - 1)` where it is negative."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(celu, (input,), input, alpha=alpha, inplace=inplace)
    return (operators.celu_ if inplace else operators.celu)(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """The scaled `elu` of which normal numbers keep mean 0 and variance 1."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(selu, (input,), input, inplace=inplace)
    return operators.selu_(input) if inplace else operators.selu(input)


# Smooth ones ----------------------------------------------------------------------------------------------------------


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-input))`."""
    return input.sigmoid()


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`input / 6 + 1 / 2`, between 0 and 1."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(hardsigmoid, (input,), input, inplace=inplace)
    return operators.hardsigmoid_(input) if inplace else operators.hardsigmoid(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """The input times its sigmoid."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(silu, (input,), input, inplace=inplace)
    return operators.silu_(input) if inplace else operators.silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """The input times the hyperbolic tangent of its softplus."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(mish, (input,), input, inplace=inplace)
    return operators.mish_(input) if inplace else operators.mish(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """The input times its `hardsigmoid`."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(hardswish, (input,), input, inplace=inplace)
    return operators.hardswish_(input) if inplace else operators.hardswish(input)


def tanhshrink(input: Tensor) -> Tensor:
    """The input minus its hyperbolic tangent."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(tanhshrink, (input,), input)
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """`input / (1 + |input|)`."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(softsign, (input,), input)
    return input / (input.abs() + 1)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of a dimension times the sigmoid of the second."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(glu, (input,), input, dim=dim)
    if input.dim() == 0:
        raise ShapeError("glu does not support scalars because halving size must be even")
    return operators.glu(input, dim)


# Along a dimension ----------------------------------------------------------------------------------------------------


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """Positive numbers that sum to 1 along a dimension."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(softmax, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    return operators.softmax(input, _softmax_dim("softmax", input, dim, _stacklevel), dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """The `softmax` of minus the input: the smallest number has the largest share."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(softmin, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    return operators.softmax(-input, _softmax_dim("softmin", input, dim, _stacklevel), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """The logarithm of `softmax`, computed so that no intermediate result overflows or underflows."""
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(log_softmax, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    return operators.log_softmax(input, _softmax_dim("log_softmax", input, dim, _stacklevel), dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random softmax, which for a small `tau` tends to one-hot vectors drawn with the logits' probabilities.

    With `hard` the result is one-hot, and its gradient that of the soft one.
    """
    if type(logits) not in PLAIN and has_torch_function_unary(logits):
        return handle_torch_function(gumbel_softmax, (logits,), logits, tau=tau, hard=hard, eps=eps, dim=dim)
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    drawn = -operators.empty_like(logits, memory_format=contiguous_format).exponential_().log()
    soft = ((logits + drawn) / tau).softmax(dim)
    return _hardened(soft, dim) if hard else soft


def _hardened(soft: Tensor, dim: int) -> Tensor:
    """1 where a softmax is largest and 0 elsewhere, with the gradient of the softmax."""
    largest = soft.max(dim, keepdim=True)[1]
    one_hot = operators.zeros_like(soft, memory_format=contiguous_format).scatter_(dim, largest, 1.0)
    return one_hot - soft.detach() + soft


def _softmax_dim(name: str, input: Tensor, dim: int | None, stacklevel: int) -> int:
    return _get_softmax_dim(name, input.dim(), stacklevel + 1) if dim is None else dim


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that is taken where none is given."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1
