"""What does each activation compute, and its gradient?

Rows as in `formulas`, for operators that are applied between the layers of a network. Of an operator whose arguments
choose among formulas, or stand in another order than tensors and numbers, `CHOSEN` says which formula it is.

Mirrors: aten/src/ATen/native/cpu/Activation.cpp and aten/src/ATen/native/cuda/Activation*Kernel.cu, which have the
    same lambdas twice
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from glasstorch.core.dtype import FLOAT8
from glasstorch.kernels.pointwise.dtypes import FLOATING, FLOATING_OR_COMPLEX, NOT_BOOL
from glasstorch.kernels.pointwise.formulas import Cuda, Formula


def activation(name: str, expression: str, label: str | None = None) -> Formula:
    """A formula of floats."""
    return Formula(expression, FLOATING - FLOAT8, label or f"{name}_cpu", cuda=Cuda(f"{name}_cuda"), fused=True)


SIGMOID: Final = "(1 / (1 + exp(-b)))"
TANH_OF_SOFTPLUS: Final = "tanh(log1p(exp(b)))"
CURVE, SLOPE = math.sqrt(2 / math.pi), 0.044715  # gelu's tanh: of CURVE * (a + SLOPE * a ** 3)
INNER: Final = f"({CURVE} * (b + {SLOPE} * (b * b * b)))"

ACTIVATIONS: Final[dict[str, Formula]] = {
    # Rectifiers; p is the slope below 0
    "leaky_relu": activation("leaky_relu", "where(a > 0, a, a * p)"),
    "_prelu_kernel": activation("prelu", "where(a > 0, a, b * a)"),
    # p is the threshold, q the value below it
    "threshold": Formula(
        "where(a <= p, q, a)", NOT_BOOL, "threshold_cpu", cuda=Cuda("threshold_cuda"), fused=True
    ),
    # Exponentials below 0; p is alpha, q scales the result and r the input
    "elu": activation("elu", "where(a > 0, a * q, expm1(a * r) * (p * q))"),
    # Steep or smooth steps, as factors or alone
    "hardsigmoid": activation("hardsigmoid", "minimum(maximum(a + 3, 0), 6) / 6"),
    "hardsigmoid_backward": activation(
        "hardsigmoid_backward", "where(abs(b) < 3, a / 6, 0)", "hardsigmoid_backward"
    ),
    "hardswish": activation("hardswish", "a * minimum(maximum(a + 3, 0), 6) / 6"),
    "hardswish_backward": activation(
        "hardswish_backward", "where(b <= -3, 0, where(b < 3, a * (b / 3 + 0.5), a))"
    ),
    "hardtanh_backward": activation(
        "hardtanh_backward", "where(b <= p, 0, where(b >= q, 0, a))", "hardshrink_backward_cpu"
    ),
    "silu": activation("silu", "a / (1 + exp(-a))")._replace(accepts=FLOATING_OR_COMPLEX - FLOAT8),
    "silu_backward": activation(
        "silu_backward", f"a * {SIGMOID} * (1 + b * (1 - {SIGMOID}))"
    )._replace(accepts=FLOATING_OR_COMPLEX - FLOAT8),
    "mish": activation("mish", "a * tanh(log1p(exp(a)))"),
    "mish_backward": activation(
        "mish_backward",
        f"a * ({TANH_OF_SOFTPLUS} + b * {SIGMOID} * (1 - {TANH_OF_SOFTPLUS} * {TANH_OF_SOFTPLUS}))",
    ),
    # c is exp(-|b|)
    "log_sigmoid_backward": activation("log_sigmoid_backward", "a * where(b < 0, 1 - c / (1 + c), c / (1 + c))"),
    # p is beta; above the threshold q it is the identity
    "softplus": activation("softplus", "where(a * p > q, a, log1p(exp(a * p)) / p)"),
    "softplus_backward": activation(
        "softplus_backward", "where(b * p > q, a, a * exp(b * p) / (exp(b * p) + 1))"
    ),
    # Zero from -p to p
    "hardshrink": activation("hardshrink", "where(abs(a) <= p, 0, a)"),
    "softshrink": activation("softshrink", "where(a > p, a - p, where(a + p < 0, a + p, a * 0))"),
    "hardshrink_backward": activation("shrink_backward", "where(abs(b) <= p, 0, a)"),
    "softshrink_backward": activation("shrink_backward", "where(abs(b) <= p, 0, a)"),
}  # fmt: skip

# Formulas among which arguments choose
GELU: Final = {
    "none": activation("gelu", f"0.5 * a * (1 + erf(a * {math.sqrt(0.5)}))", "GeluKernelImpl"),
    "tanh": activation(
        "gelu", f"0.5 * a * (1 + tanh({CURVE} * (a + {SLOPE} * (a * a * a))))", "GeluKernelImpl"
    ),
}  # fmt: skip
GELU_BACKWARD: Final = {
    "none": activation(
        "gelu_backward",
        f"a * (0.5 * (1 + erf(b * {math.sqrt(0.5)})) + b * exp(b * b * -0.5) * {1 / math.sqrt(2 * math.pi)})",
        "GeluBackwardKernelImpl",
    ),
    "tanh": activation(
        "gelu_backward",
        f"a * (0.5 * (1 + tanh({INNER})) + "
        f"0.5 * b * (1 - square(tanh({INNER}))) * ({CURVE} * (1 + {3 * SLOPE} * (b * b))))",
        "GeluBackwardKernelImpl",
    ),
}
# by whether the second tensor is elu's result, and not its input
ELU_BACKWARD: Final = {
    False: activation("elu_backward", "where(b <= 0, a * r * (p * q) * exp(b * r), a * q)"),
    True: activation("elu_backward", "where(b <= 0, a * r * (b + p * q), a * q)"),
}
HARDTANH: Final = Formula(
    "minimum(maximum(a, p), q)", NOT_BOOL, "clamp_scalar_cpu", numpy="clip(a, p, q)", fused=True,
    cuda=Cuda("clamp_scalar_cuda", expression="between_numbers(a, p, q)"),
)  # fmt: skip
LEAKY_RELU_BACKWARD: Final = activation("leaky_relu_backward", "where(b > 0, a, a * p)")

# operator -> the formula that its arguments choose, and its tensors and numbers
CHOSEN: Final[dict[str, Callable[..., tuple[Formula, tuple[Any, ...]]]]] = {
    "gelu": lambda self, approximate: (GELU[approximate], (self,)),
    "gelu_backward": lambda grad, self, approximate: (GELU_BACKWARD[approximate], (grad, self)),
    "elu_backward": lambda grad, alpha, scale, input_scale, is_result, x: (
        ELU_BACKWARD[is_result], (grad, x, alpha, scale, input_scale)
    ),
    "leaky_relu_backward": lambda grad, self, slope, is_result: (LEAKY_RELU_BACKWARD, (grad, self, slope)),
    "hardtanh": lambda self, *bounds: (HARDTANH, (self, *bounds)),
}  # fmt: skip


def every_activation() -> tuple[Formula, ...]:
    """All formulas of this file."""
    choices = (*GELU.values(), *GELU_BACKWARD.values(), *ELU_BACKWARD.values(), HARDTANH, LEAKY_RELU_BACKWARD)
    return (*ACTIVATIONS.values(), *choices)
