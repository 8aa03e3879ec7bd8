"""Which expressions combine several tensors and a number element by element on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/PointwiseOpsKernel.cu, Lerp.cu, TensorCompare.cu (clamp), BinaryMiscOpsKernels.cu
    (mse_kernel_cuda)

As in PyTorch, CUDA differs from the CPU: a product or quotient is formed before `value` multiplies it, and a single
bound that is NaN has no effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number
from glasstorch.kernels.cuda.pointwise.binary import BINARY
from glasstorch.kernels.cuda.pointwise.expressions import (
    FLOATING,
    NOT_BOOL,
    Row,
    kernels_of,
    numbered_kernel,
    register,
    run,
)
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import LARGEST, number_as

LERP = "fabs(p) < 0.5 ? a + p * (b - a) : b - (b - a) * (1 - p)"

TERNARY: dict[str, tuple[Callable[..., Result], Row]] = {
    "addcmul": (
        shapes.ternary,
        Row("a + p * (b * c)", 3, NOT_BOOL, "addcmul_cuda", numbers=frozenset((2,)), exact=frozenset((2,))),
    ),
    "addcdiv": (shapes.ternary_divide, Row("a + p * (b / c)", 3, FLOATING, "addcdiv_cuda")),
    "lerp.Scalar": (shapes.lerp_scalar, Row(LERP, 2, FLOATING, "lerp_cuda")),
}

for name, (shape, row) in TERNARY.items():
    register(name, numbered_kernel(shape, row))

# Clamp: bounds that may be missing; NaN in the tensor gives NaN ---------------------------------------------------

CLAMP_NUMBERS = Row("between_numbers(a, p, q)", 1, NOT_BOOL, "clamp_scalar_cuda")
CLAMP_TENSORS = Row("between(a, b, c)", 3, NOT_BOOL, "clamp_cuda")


def clamp(keys: int, self: Tensor, lower: Number | None, upper: Number | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `clamp` between numbers."""
    result = shapes.clamp(self, lower, upper) if out is None else None
    bounds = [bound for bound in (lower, upper) if bound is not None]
    common = result_type(self, *bounds)
    CLAMP_NUMBERS.check(common)
    held: list[Any] = [number_as(bound, common) for bound in bounds]
    if len(held) == 2 and any(math.isnan(bound) for bound in held):
        limits: tuple[Number, Number] = (math.nan, math.nan)
    else:
        largest = math.inf if common.is_floating_point else LARGEST[common]
        least = 0 if not common.is_signed else -largest - (not common.is_floating_point)
        limits = (least if lower is None else held[0], largest if upper is None else held[-1])
    return run(CLAMP_NUMBERS, result, (self,), out, limits, common)


def clamp_tensors(
    keys: int, self: Tensor, lower: Tensor | None, upper: Tensor | None, out: Tensor | None = None
) -> Tensor:
    """The kernel of `clamp` between tensors; with one bound it is `maximum` or `minimum`."""
    result = shapes.clamp_tensor(self, lower, upper) if out is None else None
    bounds = tuple(bound for bound in (lower, upper) if bound is not None)
    row = CLAMP_TENSORS if len(bounds) == 2 else BINARY["minimum" if lower is None else "maximum"]
    return run(row, result, (self, *bounds), out)


register("clamp", clamp)
register("clamp.Tensor", clamp_tensors)

# The squared error and its gradient; `loss` reduces them -----------------------------------------------

SQUARED_DIFFERENCE = Row("(a - b) * (a - b)", 2, FLOATING, "mse_cuda")
MSE_GRADIENT = Row("p * (a - b) * c", 3, FLOATING, "mse_backward_cuda")


def squared_difference(self: Tensor, target: Tensor, out: Tensor) -> Tensor:
    """`(self - target) ** 2`, written to `out`, which has the sizes of both broadcast together."""
    return run(SQUARED_DIFFERENCE, None, (self, target), out)


def mse_gradient(self: Tensor, target: Tensor, grad_output: Tensor, factor: float, out: Tensor) -> Tensor:
    """`factor * (self - target) * grad_output`, written to `out`, which has the sizes of all broadcast together."""
    return run(MSE_GRADIENT, None, (self, target, grad_output), out, (factor,))


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    rows = [row for _, row in TERNARY.values()]
    yield from kernels_of((*rows, CLAMP_NUMBERS, CLAMP_TENSORS, SQUARED_DIFFERENCE, MSE_GRADIENT))
