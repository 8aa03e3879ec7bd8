"""How are softmax, log_softmax and their gradients computed on the CPU?

Mirrors: aten/src/ATen/native/cpu/SoftMaxKernel.cpp, SoftMax.cpp
Differs: half precision is computed in float32. All sums are float64, and the result is rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, finish, structured
from glasstorch.operators.shapes import softmax as shapes

CPU = KernelTable("CPU")

Function = Callable[..., Any]  # function(*arrays, axis): one of the four below


def softmax(x: Array, axis: int) -> Any:
    """The shares of exp(x) in its sum. Subtracting the maximum changes no share, and no exponential overflows."""
    exponentials = np.exp(below_maximum(x, axis))
    return exponentials / total(exponentials, axis)


def log_softmax(x: Array, axis: int) -> Any:
    """The logarithm of softmax, without the division."""
    x = below_maximum(x, axis)
    return x - np.log(total(np.exp(x), axis))


def softmax_backward(grad: Array, y: Array, axis: int) -> Any:
    """The gradient of x, from that of y = softmax(x)."""
    return (grad - total(grad * y, axis)) * y


def log_softmax_backward(grad: Array, y: Array, axis: int) -> Any:
    """The gradient of x, from that of y = log_softmax(x)."""
    return grad - np.exp(y) * total(grad, axis)


def below_maximum(x: Array, axis: int) -> Any:
    """x minus its maximum."""
    return x - np.maximum.reduce(x, axis, keepdims=True)


def total(array: Array, axis: int) -> Any:
    """The sum along an axis, in float64."""
    return np.add.reduce(array, axis, np.float64, keepdims=True)


@slot
def along(function: Function, arrays: list[Array], axis: int) -> Array:
    """`function(*arrays, axis)`, for half precision in float32. Without elements, any dtype will do."""
    return function(*map(widened, arrays), axis) if arrays[0].size else arrays[0].copy()


def register_softmax(name: str, forward: Function, backward: Function) -> None:
    """Register an operator and its gradient."""

    @structured(CPU, f"_{name}")
    def kernel(keys: int, self: Tensor, dim: int, half_to_float: bool, out: Out = None) -> Tensor:
        if half_to_float:
            raise DtypeError("softmax with half to float conversion is not supported on CPU: convert the input first")
        result = getattr(shapes, name)(self, dim, half_to_float)
        return finish(quietly(along.run, forward, [self.array()], wrap_dim(dim, self.ndim)), result.dtype, out)

    @structured(CPU, f"_{name}_backward_data")
    def backward_kernel(
        keys: int, grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype, out: Out = None
    ) -> Tensor:
        result = getattr(shapes, f"{name}_backward")(grad_output, output, dim, input_dtype)
        if result.dtype is not grad_output.dtype:  # half to float conversion once more
            raise DtypeError(
                f"expected scalar type {grad_output.dtype.scalar_name} but found {result.dtype.scalar_name}"
            )
        arrays = [grad_output.array(), output.array()]
        return finish(quietly(along.run, backward, arrays, wrap_dim(dim, output.ndim)), result.dtype, out)


register_softmax("softmax", softmax, softmax_backward)
register_softmax("log_softmax", log_softmax, log_softmax_backward)
