"""How are softmax, log_softmax and their gradients computed on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/SoftMax.cu (host_softmax, host_softmax_backward)
Differs: one kernel for lines of all lengths; see softmax.cu.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOATING, dtype, float16, float32
from glasstorch.core.geometry import wrap_dim
from glasstorch.devices.launch import launch
from glasstorch.devices.modules import kernel
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cuda.copies import contiguous
from glasstorch.kernels.cuda.lines import Block
from glasstorch.kernels.cuda.reductions import delivered
from glasstorch.kernels.cuda.tensors import COMPUTED, CUDA_TYPE, common_device, output
from glasstorch.kernels.structured import shape_function, structured
from glasstorch.operators.shapes.result import Result

CUDA = KernelTable("CUDA")

FILE = "softmax.cu"
FUNCTIONS = {"softmax": "Softmax", "log_softmax": "LogSoftmax"}  # operator -> its name in softmax.cu

# The kernels' dtypes of input and result.
SAME = tuple((element, element) for element in COMPUTED if element.category == FLOATING)
PAIRS = {"softmax": (*SAME, (float16, float32)), "softmax_gradient": (*SAME, (float32, float16))}


def options(function: str, input: dtype, result: dtype) -> tuple[str, ...]:
    """The compiler options for softmax.cu."""
    return f"INPUT={CUDA_TYPE[input]}", f"OUTPUT={CUDA_TYPE[result]}", f"FUNCTION={function}"


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines."""
    for function in FUNCTIONS.values():
        for expression, pairs in PAIRS.items():
            for pair in pairs:
                yield FILE, f"{expression}_rows", options(function, *pair)
                yield FILE, f"{expression}_columns", options(function, *pair)


def along(expression: str, function: str, inputs: tuple[Tensor, ...], dim: int, result: Result) -> Tensor:
    """Apply a kernel along a dimension of row-major tensors of one shape."""
    to = output(result, inputs[0].device)
    shape = to._shape
    if 0 in shape:
        return to
    at = wrap_dim(dim, len(shape))
    length = shape[at] if shape else 1
    inner = math.prod(shape[at + 1 :])
    lines = math.prod(shape) // length
    block = Block.of(inner == 1, lines, length)
    arrangement = "rows" if block.rows else "columns"
    run = kernel(FILE, f"{expression}_{arrangement}", options(function, inputs[0].dtype, to.dtype))
    tensors = (*map(contiguous, inputs), to)
    launch(run, block.count(lines), block.threads(), (*tensors, np.int64(lines), np.int64(length), np.int64(inner)))
    return to


def register_softmax(name: str) -> None:
    """Register an operator and its gradient."""
    shape, shape_backward = shape_function(f"_{name}"), shape_function(f"_{name}_backward_data")
    function = FUNCTIONS[name]

    @structured(CUDA, f"_{name}")
    def forward(keys: int, self: Tensor, dim: int, half_to_float: bool, out: Tensor | None = None) -> Tensor:
        """With `half_to_float` the float32 result for a float16 input is not rounded."""
        result = shape(self, dim, half_to_float)
        return delivered(along("softmax", function, (self,), dim, result), out)

    @structured(CUDA, f"_{name}_backward_data")
    def backward(
        keys: int, grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype, out: Tensor | None = None
    ) -> Tensor:
        """The gradient of a result with `half_to_float` is float16 again."""
        common_device(grad_output, output, numbers=False)
        result = shape_backward(grad_output, output, dim, input_dtype)
        return delivered(along("softmax_gradient", function, (grad_output, output), dim, result), out)


for _name in FUNCTIONS:
    register_softmax(_name)
