"""How is a power computed on a CUDA device?

Mirrors: aten/src/ATen/native/Pow.cpp, aten/src/ATen/native/cuda/PowKernel.cu, aten/src/ATen/native/Pow.h (powi)
Differs: the powers 0 and 1 go through the same kernel as others, which gives exactly 1 and the base.
"""

from __future__ import annotations

from collections.abc import Iterator

from glasstorch._tensor import Tensor, wrapped_number
from glasstorch.core.dtype import Number
from glasstorch.kernels.cuda.pointwise.expressions import FLOATING, NOT_BOOL, Row, kernels_of, register, run
from glasstorch.kernels.cuda.pointwise.shared import ROWS
from glasstorch.kernels.cuda.tensors import common_device, is_number, output
from glasstorch.kernels.pointwise.cuda_text import cuda_text
from glasstorch.kernels.pointwise.formulas import FLOAT_EXPONENTS as LINES
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import result_type

POWER, MULTIPLY = ROWS["pow.Tensor_Tensor"], ROWS["mul.Tensor"]
CUBE = Row(cuda_text(LINES[3]), 1, NOT_BOOL, "pow_cuda")
INVERSE_SQUARE = Row(cuda_text(LINES[-2]), 1, FLOATING, "pow_cuda")

# Exponents that need no logarithm: for all dtypes, then for floats. The square multiplies x by itself.
EXPONENTS: dict[Number, Row] = {2: MULTIPLY, 3: CUBE}
FLOAT_EXPONENTS: dict[Number, Row] = EXPONENTS | {
    0.5: ROWS["sqrt"],
    -0.5: ROWS["rsqrt"],
    -1: ROWS["reciprocal"],
    -2: INVERSE_SQUARE,
}


def tensor_tensor(keys: int, self: Tensor, exponent: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `x ** y`."""
    if is_number(exponent):
        number = exponent.array().item()
        shapes.power_scalar(self, number)  # raises the error
        if out is None:
            out = output(shapes.power(self, exponent), common_device(self))
        return tensor_scalar(keys, self, number, out)
    return run(POWER, shapes.power(self, exponent) if out is None else None, (self, exponent), out)


def tensor_scalar(keys: int, self: Tensor, exponent: Number, out: Tensor | None = None) -> Tensor:
    """The kernel of `x ** 2`."""
    result = shapes.power_scalar(self, exponent) if out is None else None
    common = result_type(self, exponent)
    POWER.check(common)
    row = (FLOAT_EXPONENTS if common.is_floating_point else EXPONENTS).get(exponent, POWER)
    operands = (self,) if row.inputs == 1 else (self, self if row is MULTIPLY else wrapped_number(exponent))
    return run(row, result, operands, out, (), common)


def scalar_tensor(keys: int, self: Number, exponent: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `2 ** x`."""
    result = shapes.power_scalar_base(self, exponent) if out is None else None
    return run(POWER, result, (wrapped_number(self), exponent), out)


register("pow.Tensor_Tensor", tensor_tensor)
register("pow.Tensor_Scalar", tensor_scalar)
register("pow.Scalar", scalar_tensor)


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    yield from kernels_of((CUBE, INVERSE_SQUARE))
