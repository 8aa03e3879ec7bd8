"""What do the operators of the family activation compute?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.rows.shared import FLOATS_AND_INTEGERS, ONE
from tests.agreement.samples import FLOATS, SAME, Row, call, row, t

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]
PAIR = (call(t(2, 3), t(2, 3)), call(t(3, 2, layout="transposed"), t(3, 2, layout="transposed")))
SELU = 1.6732632423543772, 1.0507009873554805
APART = {"low": 0.5, "high": 3}  # elements away from 0, where a function may have no derivative


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def elu(x: Array, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Array:
    return np.where(x > 0, x * scale, np.expm1(x * input_scale) * alpha * scale)


def elu_slope(x: Array, alpha: float, scale: float, input_scale: float, is_result: bool) -> Array:
    below = x + alpha * scale if is_result else np.exp(x * input_scale) * alpha * scale
    return np.where(x > 0, scale, below * input_scale)


def erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[x.dtype])(x)


def gelu(x: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_slope(x: Array, approximate: str = "none") -> Array:
    if approximate == "tanh":
        curve = math.sqrt(2 / math.pi)
        tanh = np.tanh(curve * (x + 0.044715 * x**3))
        return 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh**2) * curve * (1 + 3 * 0.044715 * x**2)
    return 0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


def backward(slope: Function) -> Function:
    """The gradient: that of the result times the slope."""
    return lambda grad, x, *numbers, **named: grad * slope(x, *numbers, **named)


def hardswish(x: Array) -> Array:
    return x * np.clip(x + 3, 0, 6) / 6


def mish(x: Array) -> Array:
    return x * np.tanh(np.log1p(np.exp(x)))


def mish_slope(x: Array) -> Array:
    tanh = np.tanh(np.log1p(np.exp(x)))
    return tanh + x * sigmoid(x) * (1 - tanh**2)


def softplus(x: Array, beta: float = 1, threshold: float = 20) -> Array:
    return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


def log_sigmoid(x: Array) -> Array:
    return -np.log1p(np.exp(-x))


def prelu(x: Array, weight: Array) -> Array:
    if weight.size > 1 and x.ndim > 1:
        weight = weight.reshape(-1, *[1] * (x.ndim - 2))
    return np.where(x > 0, x, weight * x)


def rrelu(x: Array, *_: Any) -> Array:
    """As it is in evaluation."""
    return np.where(x > 0, x, x * (1 / 8 + 1 / 3) / 2)


def shrunk(x: Array, lambd: float = 0.5) -> Array:
    return np.sign(x) * np.maximum(np.abs(x) - lambd, 0)


def kept(grad: Array, x: Array, lambd: float) -> Array:
    return np.where(np.abs(x) > lambd, grad, 0)


def glu(x: Array, dim: int = -1) -> Array:
    values, gates = np.split(x, 2, dim)
    return values * sigmoid(gates)


def glu_backward(grad: Array, x: Array, dim: int) -> Array:
    values, gates = np.split(x, 2, dim)
    opened = sigmoid(gates)
    return np.concatenate([grad * opened, grad * values * opened * (1 - opened)], dim)


def glu_jvp(result: Array, x: Array, dx: Array, dim: int) -> Array:
    (_, gates), (dvalues, dgates) = np.split(x, 2, dim), np.split(dx, 2, dim)
    return dvalues * sigmoid(gates) + result * dgates * (1 - sigmoid(gates))


def glu_backward_jvp(grad_x: Array, grad: Array, x: Array, dgrad: Array, dx: Array, dim: int) -> Array:
    (values, gates), (dvalues, dgates) = np.split(x, 2, dim), np.split(dx, 2, dim)
    opened, grad_values = sigmoid(gates), np.split(grad_x, 2, dim)[0]
    of_values = dgrad * opened + grad_values * (1 - opened) * dgates
    moved = of_values * values + grad_values * dvalues - grad_values * values * opened * dgates
    return np.concatenate([of_values, moved * (1 - opened)], dim)


SLOPES: dict[str, tuple[Function, tuple[Any, ...]]] = {
    "hardsigmoid_backward": (lambda x: np.where(np.abs(x) < 3, 1 / 6, 0), PAIR),
    "hardswish_backward": (lambda x: np.where(np.abs(x) < 3, x / 3 + 0.5, x > 0), PAIR),
    "silu_backward": (lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))), PAIR),
    "mish_backward": (mish_slope, PAIR),
    "gelu_backward": (gelu_slope, (*PAIR, call(t(2, 3), t(2, 3), approximate="tanh"))),
    "softplus_backward": (lambda x, beta, threshold: sigmoid(x * beta), (call(t(2, 3), t(2, 3), 2, 20),)),
    "hardtanh_backward": (lambda x, low, high: (x > low) & (x < high), (call(t(2, 3), t(2, 3), -1, 1.5),)),
    "leaky_relu_backward": (lambda x, slope, _: np.where(x > 0, 1, slope),
        (call(t(2, 3), t(2, 3), 0.1, False), call(t(2, 3), t(2, 3, **APART), 0.1, True))),
}  # fmt: skip

# Gradients that have a derivative here and none in PyTorch, which composes them where that is wanted
ALSO_TWICE = ("hardsigmoid_backward", "silu_backward", "mish_backward")

ROWS: tuple[Row, ...] = (
    # Rectifiers
    row("hardtanh", lambda x, low=-1, high=1: np.clip(x, low, high), *ONE, call(t(2, 3), -1, 2),
        dtypes=FLOATS_AND_INTEGERS),
    row("relu6", lambda x: np.clip(x, 0, 6), *ONE, dtypes=FLOATS_AND_INTEGERS),
    row("relu6_", lambda x: np.clip(x, 0, 6), *ONE, dtypes=FLOATS_AND_INTEGERS),
    row("threshold", lambda x, threshold, value: np.where(x > threshold, x, value), call(t(2, 3), 1, 7),
        call(t(3, 2, layout="transposed"), 0, -2), dtypes=FLOATS_AND_INTEGERS),
    row("leaky_relu", lambda x, slope=0.01: np.where(x > 0, x, slope * x), *ONE, call(t(2, 3), 0.2), dtypes=FLOATS),
    row("prelu", prelu, call(t(2, 3), t(1)), call(t(2, 3), t(3)), call(t(2, 3, 2), t(3)), call(t(4), t()),
        dtypes=FLOATS),
    row("_prelu_kernel", prelu, call(t(2, 3), t(3)), call(t(2, 1), t(1, 3)), dtypes=FLOATS),
    row("_prelu_kernel_backward", lambda g, x, w: (np.where(x > 0, g, w * g), np.where(x > 0, 0, x * g)),
        call(t(2, 3), t(2, 3), t(1, 3)), dtypes=FLOATS, result=(SAME, SAME)),
    row("rrelu", rrelu, *ONE, dtypes=FLOATS, cuda=False),
    row("rrelu_", rrelu, *ONE, dtypes=FLOATS, cuda=False),
    row("rrelu_with_noise", rrelu, call(t(2, 3), t(2, 3, grad=False)), dtypes=FLOATS),
    row("rrelu_with_noise_functional", lambda x, noise: (rrelu(x), noise), call(t(2, 3), t(2, 3, grad=False)),
        dtypes=FLOATS, result=(SAME, SAME), cuda=False),
    row("rrelu_with_noise_backward", lambda g, x, noise, low, high, training, _: g * noise,
        call(t(2, 3), t(2, 3), t(2, 3, grad=False), 0.1, 0.3, True, False), dtypes=FLOATS),
    row("elu", elu, *ONE, call(t(2, 3), 2, 0.5, 3), dtypes=FLOATS, tolerance=2),
    row("elu_backward", lambda g, alpha, scale, inner, is_result, x: g * elu_slope(x, alpha, scale, inner, is_result),
        call(t(2, 3), 2, 0.5, 3, False, t(2, 3)), call(t(2, 3), 2, 0.5, 3, True, t(2, 3, low=-0.5)), dtypes=FLOATS,
        tolerance=4),
    row("celu", lambda x, alpha=1.0: elu(x, alpha, 1, 1 / alpha), *ONE, call(t(2, 3), 2.0), dtypes=FLOATS, tolerance=2),
    row("celu_", lambda x, alpha=1.0: elu(x, alpha, 1, 1 / alpha), *ONE, call(t(2, 3), 2.0), dtypes=FLOATS,
        tolerance=2),
    row("selu", lambda x: elu(x, *SELU), *ONE, dtypes=FLOATS, tolerance=2),
    row("selu_", lambda x: elu(x, *SELU), *ONE, dtypes=FLOATS, tolerance=2),
    # Smooth ones
    row("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, *ONE, dtypes=FLOATS),
    row("hardswish", hardswish, *ONE, dtypes=FLOATS, tolerance=2),
    row("silu", lambda x: x * sigmoid(x), *ONE, dtypes=FLOATS, tolerance=2),
    row("mish", mish, *ONE, dtypes=FLOATS, tolerance=4),
    row("gelu", gelu, *ONE, call(t(2, 3), approximate="tanh"), dtypes=FLOATS, tolerance=8),
    row("softplus", softplus, *ONE, call(t(2, 3), 2, 1), dtypes=FLOATS, tolerance=2),
    row("log_sigmoid", log_sigmoid, *ONE, dtypes=FLOATS, tolerance=4),
    row("log_sigmoid_forward", lambda x: (log_sigmoid(x), np.exp(-np.abs(x))), *ONE, dtypes=FLOATS, tolerance=4,
        result=(SAME, SAME)),
    row("log_sigmoid_backward", lambda g, x, buffer: g * np.where(x < 0, 1, buffer) / (1 + buffer),
        call(t(2, 3), t(2, 3, grad=False), t(2, 3, low=0.1, high=1, grad=False)), dtypes=FLOATS, tolerance=4),
    *(row(name, backward(slope), *calls, dtypes=FLOATS, tolerance=16, in_torch=name not in ALSO_TWICE)
      for name, (slope, calls) in SLOPES.items()),
    # What is small becomes 0
    row("hardshrink", lambda x, lambd=0.5: np.where(np.abs(x) > lambd, x, 0), *ONE, call(t(2, 3), 1), dtypes=FLOATS),
    row("softshrink", shrunk, *ONE, call(t(2, 3), 1), dtypes=FLOATS),
    *(row(f"{name}_backward", kept, call(t(2, 3), t(2, 3), 0.5), dtypes=FLOATS)
      for name in ("hardshrink", "softshrink")),
    # Gates
    row("glu", glu, call(t(2, 4)), call(t(4, 3), 0), call(t(2, 4, layout="stepped")), dtypes=FLOATS, tolerance=2),
    row("glu_backward", glu_backward, call(t(2, 2), t(2, 4), -1), call(t(2, 3), t(4, 3), 0), dtypes=FLOATS,
        tolerance=4),
    row("glu_jvp", glu_jvp, call(t(2, 2), t(2, 4), t(2, 4), -1), dtypes=("float32", "float64"), tolerance=4,
        differentiable=False),
    row("glu_backward_jvp", glu_backward_jvp, call(t(2, 4), t(2, 2), t(2, 4), t(2, 2), t(2, 4), -1), dtypes=FLOATS,
        tolerance=16, differentiable=False),
)  # fmt: skip
