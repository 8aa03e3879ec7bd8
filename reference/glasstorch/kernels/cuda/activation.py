"""How are activations and their gradients computed on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/ActivationEluKernel.cu and its neighbours
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cuda.pointwise.expressions import FLOATING, Kernel, Row, kernel_of, kernels_of, register, run
from glasstorch.kernels.iterator import op_math
from glasstorch.kernels.pointwise.activation import ACTIVATIONS, CHOSEN, every_activation
from glasstorch.kernels.pointwise.formulas import Formula
from glasstorch.kernels.structured import Outs, shape_function, structured
from glasstorch.operators.shapes import activation as shapes
from glasstorch.operators.shapes.scalars import number_as

CUDA = KernelTable("CUDA")


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

# Two results ----------------------------------------------------------------------------------------------------------

LOG_SIGMOID = Row("smaller(a, (COMPUTE)0) - log1p(exp(-fabs(a)))", 1, FLOATING, "log_sigmoid_forward_cuda")
DECAY = Row("exp(-fabs(a))", 1, FLOATING, "log_sigmoid_forward_cuda")
PRELU_OF_INPUT = Row("a > 0 ? b : c * b", 3, FLOATING, "prelu_backward_cuda")
PRELU_OF_SLOPE = Row("a > 0 ? 0 : a * b", 2, FLOATING, "prelu_backward_cuda")


@structured(CUDA, "log_sigmoid_forward")
def log_sigmoid_forward(keys: int, self: Tensor, out: Outs = None) -> tuple[Tensor, Tensor]:
    """The logarithm of the sigmoid, and `exp(-|x|)`, which PyTorch's kernel does not keep."""
    shape, _ = shapes.log_sigmoid_forward(self)
    to_output, to_buffer = out or (None, None)
    return run(LOG_SIGMOID, shape, (self,), to_output), run(DECAY, shape, (self,), to_buffer)


@CUDA.impl("_prelu_kernel_backward")
def prelu_kernel_backward(keys: int, grad_output: Tensor, self: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Above 0 the gradient is the input's; below it is shared between the input and its slope."""
    shape, _ = shapes.prelu_kernel_backward(grad_output, self, weight)
    of_input = run(PRELU_OF_INPUT, shape, (self, grad_output, weight), None)
    return of_input, run(PRELU_OF_SLOPE, shape, (self, grad_output), None)


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    yield from kernels_of(map(row_of, every_activation()))
    yield from kernels_of((LOG_SIGMOID, DECAY, PRELU_OF_INPUT, PRELU_OF_SLOPE))
