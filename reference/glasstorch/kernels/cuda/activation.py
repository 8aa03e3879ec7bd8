"""How are activations and their gradients computed on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/ActivationEluKernel.cu and its neighbours
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.kernels.cuda.pointwise.expressions import Kernel, Row, kernel_of, kernels_of, register, run
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.pointwise import activation
from glasstorch.kernels.pointwise.activation import ACTIVATIONS, CHOSEN
from glasstorch.kernels.pointwise.formulas import Formula
from glasstorch.kernels.structured import shape_function
from glasstorch.operators.shapes.scalars import number_as


@cache
def row_of(formula: Formula) -> Row:
    """The expression of a formula in CUDA C++."""
    return Row.of(formula)


def choosing(name: str) -> Kernel:
    """The kernel of an operator whose arguments choose its formula."""
    shape, choose = shape_function(name), CHOSEN[name]

    def kernel(keys: int, *arguments: Any, out: Tensor | None = None) -> Tensor:
        result = shape(*arguments) if out is None else None
        formula, operands = choose(*arguments)
        tensors = operands[: formula.tensors]
        row = row_of(formula)
        common = row.common(*tensors)
        row.check(common)
        numbers = tuple(number_as(number, op_math(common)) for number in operands[formula.tensors :])
        return run(row, result, tensors, out, numbers, common)

    return kernel


for name, formula in ACTIVATIONS.items():
    register(name, kernel_of(shape_function(name), row_of(formula), formula.numbers))
for name in CHOSEN:
    register(name, choosing(name))


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    choices = [*activation.GELU.values(), *activation.GELU_BACKWARD.values(), *activation.ELU_BACKWARD.values()]
    single = [activation.HARDTANH, activation.LEAKY_RELU_BACKWARD]
    yield from kernels_of(map(row_of, (*ACTIVATIONS.values(), *choices, *single)))
