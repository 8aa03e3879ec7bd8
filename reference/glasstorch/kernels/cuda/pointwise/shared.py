"""Which kernels of CUDA are written from the table of formulas?

Mirrors: aten/src/ATen/native/cuda/CUDALoops.cuh and, beside it, UnaryOpsKernel.cu, UnarySignKernels.cu,
    UnaryFractionKernels.cu, AbsKernel.cu, UnaryGeometricSinKernel.cu, UnarySpecialOpsKernel.cu, BinaryInternal.h,
    BinaryMulKernel.cu, BinaryRemainderKernel.cu, BinaryBitwiseOpsKernels.cu, BinaryMiscBackwardOpsKernels.cu,
    CompareEQKernel.cu, CompareKernels.cu, MaxMinElementwiseKernel.cu, PointwiseOpsKernel.cu, Lerp.cu
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bool_
from glasstorch.kernels.cuda.pointwise.expressions import Row, kernel_of, kernels_of, register, run
from glasstorch.kernels.number_operands import number_first, with_wrapped_number
from glasstorch.kernels.pointwise.formulas import FORMULAS
from glasstorch.kernels.structured import shape_function
from glasstorch.operators.shapes.pointwise import broadcast as shapes

ROWS: Final[dict[str, Row]] = {name: Row.of(formula) for name, formula in FORMULAS.items() if formula.cuda is not None}

for name, formula in FORMULAS.items():
    if formula.cuda is not None and not formula.cuda.own_kernel:
        kernel = register(name, kernel_of(shape_function(name), ROWS[name], formula.numbers))
        if formula.number_form:
            register(f"{name.partition('.')[0]}.Scalar", with_wrapped_number(kernel))
        if formula.number_first:
            register(f"{name.partition('.')[0]}.Scalar_Tensor", number_first(kernel))


def bitwise_not(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `bitwise_not`: `a ^ -1` inverts the bits of an integer, and `a ^ 1` a bool."""
    result = shapes.bitwise_unary(self) if out is None else None
    return run(ROWS["bitwise_not"], result, (self,), out, (1 if self.dtype is bool_ else -1,))


register("bitwise_not", bitwise_not)


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    yield from kernels_of(ROWS.values())
