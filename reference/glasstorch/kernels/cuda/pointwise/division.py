"""How are quotients computed on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/BinaryDivTrueKernel.cu, BinaryDivFloorKernel.cu, BinaryDivTruncKernel.cu
Differs: an integer quotient or remainder by 0, which may be anything in PyTorch, is -1 or 0. As in PyTorch, CUDA
    differs from the CPU: division by a number multiplies by its inverse, which may cost the last bit; integer floor
    division by 0 (except of uint8) is a device-side assert, and other integer divisions by 0 are no error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import uint8
from glasstorch.kernels.cuda.pointwise.expressions import Row, computed_in, kernels_of, register, run, value_of
from glasstorch.kernels.cuda.pointwise.shared import ROWS
from glasstorch.kernels.cuda.tensors import is_number
from glasstorch.kernels.pointwise import formulas
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.pointwise import broadcast as shapes

# Their number p is the inverse of b where b is one number, else 0: see arithmetic.cuh
TRUE_DIVIDE, FLOOR_DIVIDE = ROWS["div.Tensor"], ROWS["floor_divide"]
TRUNC_DIVIDE = Row.of(formulas.TRUNC_DIVIDE)


def divide(row: Row, self: Tensor, other: Tensor, out: Tensor | None) -> Tensor:
    """The quotient as a row of the table rounds it."""
    result = None
    if out is None:
        result = (shapes.true_divide if row is TRUE_DIVIDE else shapes.binary)(self, other)
    common = row.common(self, other)
    if row is FLOOR_DIVIDE and common is uint8:
        row = TRUNC_DIVIDE  # the same result, without an assert
    inverse = 0
    if is_number(other) and common.is_floating_point:
        compute = computed_in(common)
        inverse = quietly(np.reciprocal, value_of(other, common, compute, exact=True))
    return run(row, result, (self, other), out, (inverse,), common)


def divide_true(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `div.Tensor`."""
    return divide(TRUE_DIVIDE, self, other, out)


def divide_floor(keys: int, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `floor_divide`."""
    return divide(FLOOR_DIVIDE, self, other, out)


DIVISIONS = {None: TRUE_DIVIDE, "floor": FLOOR_DIVIDE, "trunc": TRUNC_DIVIDE}


def divide_mode(keys: int, self: Tensor, other: Tensor, rounding_mode: str | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `div.Tensor_mode`."""
    if rounding_mode not in DIVISIONS:
        shapes.divide_mode(self, other, rounding_mode)  # raises the error
    return divide(DIVISIONS[rounding_mode], self, other, out)


register("div.Tensor", divide_true)
register("floor_divide", divide_floor)
register("div.Tensor_mode", divide_mode)


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    yield from kernels_of((TRUNC_DIVIDE,))
