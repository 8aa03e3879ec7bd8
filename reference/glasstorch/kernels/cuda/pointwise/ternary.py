"""How are tensors clamped, and squared errors computed, on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/TensorCompare.cu (clamp), BinaryMiscOpsKernels.cu (mse_kernel_cuda)

As in PyTorch, CUDA differs from the CPU: a single bound that is NaN has no effect.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number
from glasstorch.kernels.cuda.pointwise.expressions import (
    FLOATING,
    Row,
    kernels_of,
    register,
    run,
)
from glasstorch.kernels.cuda.pointwise.shared import ROWS
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import LARGEST, number_as

# Clamp: bounds that may be missing; NaN in the tensor gives NaN ---------------------------------------------------

CLAMP_NUMBERS, CLAMP_TENSORS = ROWS["clamp"], ROWS["clamp.Tensor"]


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
    row = CLAMP_TENSORS if len(bounds) == 2 else ROWS["minimum" if lower is None else "maximum"]
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
    yield from kernels_of((SQUARED_DIFFERENCE, MSE_GRADIENT))
