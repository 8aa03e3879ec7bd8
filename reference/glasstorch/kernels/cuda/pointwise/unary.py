"""Which expressions compute from one tensor element by element on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/UnaryOpsKernel.cu, UnarySignKernels.cu, UnaryFractionKernels.cu, AbsKernel.cu,
    UnaryGeometricSinKernel.cu, UnaryGeometricCosKernel.cu, UnaryGeometricTanhKernel.cu, UnarySpecialOpsKernel.cu,
    aten/src/ATen/native/Activation.cpp (relu)

As in PyTorch, abs of bool is defined on CUDA but not on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bool_
from glasstorch.kernels.cuda.pointwise.expressions import (
    FLOATING,
    INTEGRAL_OR_BOOL,
    NOT_BOOL,
    Row,
    kernels_of,
    register,
    run,
    unary_kernel,
)
from glasstorch.kernels.structured import shape_function
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import float_result_type

SAME_DTYPE = {
    "neg": Row("-a", 1, NOT_BOOL, "neg_cuda"),
    "abs": Row("magnitude(a)", 1, label="abs_cuda"),
    "sgn": Row("(a > 0) - (a < 0)", 1, label="sign_cuda"),
    "relu": Row("a < 0 ? 0 : a", 1, NOT_BOOL, "clamp_cuda"),
}


def floating_point(expression: str) -> Row:
    """A function of floats; integers are converted to float."""
    return Row(expression, 1, FLOATING, common=float_result_type)


FLOATING_POINT = {
    "exp": floating_point("exp(a)"),
    "log": floating_point("log(a)"),
    "sqrt": floating_point("sqrt(a)"),
    "rsqrt": floating_point("rsqrt(a)"),
    "reciprocal": floating_point("1 / a"),
    "sin": floating_point("sin(a)"),
    "cos": floating_point("cos(a)"),
    "tanh": floating_point("tanh(a)"),
    "sigmoid": floating_point("1 / (1 + exp(-a))"),
}

ROWS = SAME_DTYPE | {name: replace(row, label=f"{name}_cuda") for name, row in FLOATING_POINT.items()}

KERNELS = {name: register(name, unary_kernel(shape_function(name), row)) for name, row in ROWS.items()}

# a ^ -1 inverts the bits of an integer, and a ^ 1 a bool
# -----------------------------------------------------------------

NOT = Row("a ^ p", 1, INTEGRAL_OR_BOOL, "bitwise_not_cuda")


def bitwise_not(keys: int, self: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `bitwise_not`."""
    result = shapes.bitwise_unary(self) if out is None else None
    return run(NOT, result, (self,), out, (1 if self.dtype is bool_ else -1,))


register("bitwise_not", bitwise_not)


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines; NVRTC compiles
    them all in the tests."""
    yield from kernels_of((*ROWS.values(), NOT))
