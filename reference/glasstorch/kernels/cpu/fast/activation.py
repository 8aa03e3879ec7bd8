"""How are gelu and its gradient computed fast for many float32 numbers?

Each is a factor times a number: `gelu(x) = x * factor(x)`, and the gradient is the one that arrives times the slope.
Both factors go from 0 on the left to 1 on the right, smoothly.

Mirrors: aten/src/ATen/native/cpu/Activation.cpp (GeluKernelImpl, GeluBackwardKernelImpl)
Differs: lines between samples, as in Note [Lines between samples] (special/functions.py), but in float32: the lines are
    6e-8 off at most, half a unit in the last place of a factor near 1.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import float32
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.pointwise.loops import is_row_major, plain_kernel, run_fresh
from glasstorch.kernels.cpu.fast.special.functions import Lines, lines
from glasstorch.kernels.pointwise.activation import GELU, GELU_BACKWARD
from glasstorch.kernels.pointwise.numpy_loops import numpy_loop
from glasstorch.kernels.quiet import quietly

END: Final = np.float32(6)  # from there on the factors are 0 or 1 in float32
PER_UNIT: Final = np.float32(1 << 11)  # lines from one integer to the next: a power of 2, so that products are exact
SINGLE_ONLY: Final = frozenset((float32,))


@cache
def lines_of(operator: str, approximate: str) -> Lines:
    """The lines of a factor from -END to END, as float32 functions of the number itself, not of its position."""
    sizes = np.linspace(float(-END), float(END), int(2 * END * PER_UNIT) + 1)
    values = np.empty_like(sizes)
    if operator == "gelu":
        quietly(numpy_loop(GELU[approximate].expression), values, sizes)
        values[sizes != 0] /= sizes[sizes != 0]
        values[sizes == 0] = 0.5
    else:
        numpy_loop(GELU_BACKWARD[approximate].expression)(values, np.ones_like(sizes), sizes)
    values[:2], values[-2:] = 0, 1  # lines that are level go on for ever
    slopes = (lines(values).slopes * PER_UNIT).astype(np.float32)
    middles = sizes + 0.5 / PER_UNIT  # a slope that was rounded is nearest if its line is right there
    heights = np.append((values[:-1] + values[1:]) / 2, values[-1])
    return Lines(slopes, (heights - slopes * middles).astype(np.float32))


def clipped(x: Array) -> Array:
    """Each number, or the end of the lines that is nearer to it."""
    return np.clip(x, -END, END)


def factor(inside: Array, x: Array, found: Lines) -> Array:
    """The lines that numbers between the ends are under, at `x`."""
    position = inside * PER_UNIT
    position += END * PER_UNIT
    below = position.astype(np.int32).astype(np.intp)  # in two steps, for which NumPy has vectors
    result = found.slopes.take(below, out=position, mode="clip")
    result *= x
    result += found.intercepts.take(below, mode="clip")
    return result


plain_gelu, plain_gelu_backward = plain_kernel("gelu"), plain_kernel("gelu_backward")
MANY = "1,024 float32 numbers or more, row-major"


def applies(approximate: str, *tensors: Tensor) -> bool:
    """Whether the tensors are such."""
    known = approximate in GELU and tensors[0].numel() >= thresholds.SAMPLED_FROM
    return known and is_row_major(SINGLE_ONLY, *tensors)


@fast("gelu", when=MANY, benchmark="1e6: gelu", exact=4.0)
def gelu(keys: int, self: Tensor, approximate: str) -> Tensor:
    """The factor times the number; it is 0 or 1 at an infinite one."""
    if not applies(approximate, self):
        return plain_gelu(keys, self, approximate)
    found = lines_of("gelu", approximate)

    def loop(out: Array, x: Array) -> None:
        inside = clipped(x)
        np.multiply(factor(inside, inside, found), x, out=out)

    return run_fresh(loop, self._shape, float32, (self.array(),))


@fast("gelu_backward", when=MANY, benchmark="GPT of 2 layers, a step", exact=4.0)
def gelu_backward(keys: int, grad_output: Tensor, self: Tensor, approximate: str) -> Tensor:
    """The slope times the gradient; it is NaN at an infinite number, as in PyTorch."""
    if not applies(approximate, grad_output, self):
        return plain_gelu_backward(keys, grad_output, self, approximate)
    found = lines_of("gelu_backward", approximate)

    def loop(out: Array, grad: Array, x: Array) -> None:
        np.multiply(factor(clipped(x), x, found), grad, out=out)

    return run_fresh(loop, self._shape, float32, (grad_output.array(), self.array()))
