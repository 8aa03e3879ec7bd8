"""How are activations and their gradients computed on the CPU?

Most are rows of `kernels/pointwise/activation.py`; here are those with two results, random slopes, or halves.

Mirrors: aten/src/ATen/native/Activation.cpp, cpu/Activation.cpp, GatedLinearUnit.cpp
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, dtype
from glasstorch.core.random.generator import Generator
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.pointwise.loops import Kernel, Row, compute, kernel_of, register
from glasstorch.kernels.cpu.random.distributions import stream_of
from glasstorch.kernels.halves import widened
from glasstorch.kernels.iterator import allocate_output, pointwise
from glasstorch.kernels.pointwise.activation import ACTIVATIONS, CHOSEN
from glasstorch.kernels.pointwise.formulas import Formula
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, finish, shape_function, structured
from glasstorch.operators.shapes import activation as shapes
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result

CPU = KernelTable("CPU")

# Rows of the table --------------------------------------------------------------------------------------------------


@cache
def row_of(formula: Formula) -> Row:
    """The loop of a formula."""
    return Row.of(formula)


def choosing(name: str) -> Kernel:
    """The kernel of an operator whose arguments choose its formula."""
    shape, choose = shape_function(name), CHOSEN[name]

    def kernel(keys: int, *arguments: Any, out: Tensor | None = None) -> Tensor:
        output = allocate_output(shape(*arguments)) if out is None else out
        formula, operands = choose(*arguments)
        return compute(row_of(formula), operands, output)

    return kernel


for name, formula in ACTIVATIONS.items():
    register(name, kernel_of(shape_function(name), row_of(formula)))
for name in CHOSEN:
    register(name, choosing(name))

# Two results ----------------------------------------------------------------------------------------------------------


def in_common(shape: Result, common: dtype, out: Tensor | None, loop: Callable[..., None], *inputs: Tensor) -> Tensor:
    """A loop over tensors cast to a dtype, into `out` or into a new tensor."""
    return pointwise(loop, common, inputs, allocate_output(shape) if out is None else out)


@structured(CPU, "log_sigmoid_forward")
def log_sigmoid_forward(keys: int, self: Tensor, out: Outs = None) -> tuple[Tensor, Tensor]:
    """`min(x, 0) - log1p(exp(-|x|))`, and that exponential, which the gradient needs."""

    def decay(out: Array, x: Array) -> None:
        np.exp(-np.abs(x), out=out)

    def log_sigmoid(out: Array, x: Array) -> None:
        np.subtract(np.minimum(x, 0), np.log1p(np.exp(-np.abs(x))), out=out)

    to_output, to_buffer = out or (None, None)
    shape, _ = shapes.log_sigmoid_forward(self)
    buffer = in_common(shape, self.dtype, to_buffer, decay, self)
    return in_common(shape, self.dtype, to_output, log_sigmoid, self), buffer


@CPU.impl("_prelu_kernel_backward")
def prelu_kernel_backward(keys: int, grad_output: Tensor, self: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Above 0 the gradient is the input's; below it is shared between the input and its slope."""

    def of_input(out: Array, grad: Array, x: Array, slope: Array) -> None:
        out[...] = np.where(x > 0, grad, slope * grad)

    def of_slope(out: Array, grad: Array, x: Array) -> None:
        out[...] = np.where(x > 0, 0, x * grad)

    shape, _ = shapes.prelu_kernel_backward(grad_output, self, weight)
    common = result_type(grad_output, self, weight)
    return (
        in_common(shape, common, None, of_input, grad_output, self, weight),
        in_common(shape, common, None, of_slope, grad_output, self),
    )


# Random slopes ------------------------------------------------------------------------------------------------------


@structured(CPU, "rrelu_with_noise")
def rrelu_with_noise(
    keys: int,
    self: Tensor,
    noise: Tensor,
    lower: Number,
    upper: Number,
    training: bool,
    generator: Generator | None,
    out: Out = None,
) -> Tensor:
    """In training each element up to 0 draws its slope, in row-major order; `noise` receives the slopes."""
    shape = shapes.rrelu_with_noise(self, noise, lower, upper, training, generator)
    output = allocate_output(shape) if out is None else out
    if not training:
        slope = (float(lower.real) + float(upper.real)) / 2
        return compute(row_of(ACTIVATIONS["leaky_relu"]), (self, slope), output)
    x = widened(self.array())
    least, most = (float(x.dtype.type(bound.real)) for bound in (lower, upper))
    slopes, below = np.ones_like(x), x <= 0
    drawn = stream_of(generator).uniform((int(below.sum()),), np.float64)
    slopes[below] = drawn * (most - least) + least  # in two roundings, unlike the numbers of uniform_
    noise.array()[...] = slopes
    output.array()[...] = quietly(np.multiply, x, slopes)
    return output


# Gates: the second half of a dimension opens and closes the first -----------------------------------------------------


def halves_of(self: Tensor, dim: int) -> list[Array]:
    """The two halves of a tensor, in the precision in which they are computed."""
    return np.split(widened(self.array()), 2, dim)


def sigmoid(x: Array) -> Array:
    """`1 / (1 + exp(-x))`."""
    return np.reciprocal(1 + np.exp(-x))  # type: ignore[no-any-return]


@structured(CPU, "glu")
def glu(keys: int, self: Tensor, dim: int, out: Out = None) -> Tensor:
    """The first half times the sigmoid of the second."""
    shapes.glu(self, dim)

    def gated() -> Array:
        values, gates = halves_of(self, dim)
        return values * sigmoid(gates)

    return finish(quietly(gated), self.dtype, out)


@structured(CPU, "glu_backward")
def glu_backward(keys: int, grad_output: Tensor, self: Tensor, dim: int, out: Out = None) -> Tensor:
    """The gradients of both halves."""
    shapes.glu_backward(grad_output, self, dim)

    def gradient() -> Array:
        values, gates = halves_of(self, dim)
        grad, opened = widened(grad_output.array()), sigmoid(gates)
        return np.concatenate([opened * grad, (1 - opened) * opened * grad * values], dim)

    return finish(quietly(gradient), self.dtype, out)


@structured(CPU, "glu_jvp")
def glu_jvp(keys: int, glu: Tensor, x: Tensor, dx: Tensor, dim: int, out: Out = None) -> Tensor:
    """The directional derivative, from the result `glu`."""
    shapes.glu_jvp(glu, x, dx, dim)
    size = glu._shape[dim]

    def derivative() -> Array:
        gates, dgates = (tensor.narrow(dim, size, size).array() for tensor in (x, dx))
        opened = sigmoid(gates)
        moved: Array = dx.narrow(dim, 0, size).array() * opened + glu.array() * dgates * (1 - opened)
        return moved

    return finish(quietly(derivative), glu.dtype, out)
