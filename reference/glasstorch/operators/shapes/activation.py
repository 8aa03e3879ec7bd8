"""What shape and dtype do activations and their gradients have, and which inputs are refused?

Mirrors: aten/src/ATen/native/Activation.cpp, GatedLinearUnit.cpp (TORCH_META_FUNC and checks)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATING, FLOATS, INTEGRAL, Number, bool_, uint8
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import Shape, wrap_dim
from glasstorch.core.random.generator import Generator
from glasstorch.operators.shapes.pointwise.broadcast import binary, broadcast, clamp
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result, same_dtype
from glasstorch.operators.shapes.scalars import LARGEST, number_as

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# One tensor, and its gradient -------------------------------------------------------------------------------------


def unary(self: Tensor, *numbers: Number) -> Result:
    """The same shape and dtype."""
    return broadcast(self.dtype, self)


def gradient(grad_output: Tensor, self: Tensor, *numbers: Number) -> Result:
    """Those of the two tensors together."""
    return binary(grad_output, self)


def hardtanh(self: Tensor, min_val: Number, max_val: Number) -> Result:
    """The same shape and dtype; bool is refused, and negative bounds of unsigned integers."""
    if self.dtype is bool_:
        raise DtypeError("Bool inputs not supported for hardtanh")
    if self.dtype.category == INTEGRAL:
        min_val, max_val = int(min_val.real), int(max_val.real)
        if self.dtype is uint8 and (min_val < 0 or max_val < 0):
            raise ArgumentError("cannot do hardtanh on an unsigned type with negative limits")
    return clamp(self, min_val, max_val)


def softshrink(self: Tensor, lambd: Number) -> Result:
    """The same shape and dtype; the number is not negative."""
    if self.dtype not in FLOATS:
        raise not_implemented_for("softshrink_check", self.dtype)
    largest = LARGEST[self.dtype]
    if not 0 <= lambd.real <= largest:
        raise ArgumentError(
            f"lambda must be in range [0, {largest:g}] for input dtype {self.dtype.scalar_name}, but found {lambd:g}"
        )
    return unary(self)


def gelu(self: Tensor, approximate: str) -> Result:
    """The same shape and dtype."""
    _check_approximate(approximate)
    return unary(self)


def gelu_backward(grad_output: Tensor, self: Tensor, approximate: str) -> Result:
    """Those of the two tensors together."""
    _check_approximate(approximate)
    return gradient(grad_output, self)


def _check_approximate(approximate: str) -> None:
    if approximate not in ("none", "tanh"):
        raise ArgumentError("approximate argument must be either none or tanh.")


def elu_backward(
    grad_output: Tensor, alpha: Number, scale: Number, input_scale: Number, is_result: bool, self_or_result: Tensor
) -> Result:
    """Those of the two tensors together; from the result the gradient is known for a positive alpha only."""
    if is_result and alpha.real < 0:
        raise ArgumentError(_in_place_with_negative("elu"))
    return gradient(grad_output, self_or_result)


def leaky_relu_backward(grad_output: Tensor, self: Tensor, negative_slope: Number, self_is_result: bool) -> Result:
    """Those of the two tensors together; from the result the gradient is known for a positive slope only."""
    if self_is_result and negative_slope.real < 0:
        raise ArgumentError(
            f"{_in_place_with_negative('leakyReLu')} File an issue at https://github.com/pytorch/pytorch if you do "
            f"require supporting in-place leakRelu backward calculation with negative slope"
        )
    return gradient(grad_output, self)


def _in_place_with_negative(name: str) -> str:
    return (
        f"In-place {name} backward calculation is triggered with a negative slope which is not supported. This is "
        f"caused by calling in-place forward function with a negative slope, please call out-of-place version instead."
    )


def log_sigmoid_forward(self: Tensor) -> tuple[Result, Result]:
    """The result, and what the gradient needs, both of the same shape and dtype, row-major."""
    _check_floats("log_sigmoid_cpu", self)
    result = Result(self._shape, self.dtype, None, same_dtype)
    return result, result


def log_sigmoid_backward(grad_output: Tensor, self: Tensor, buffer: Tensor) -> Result:
    """Those of the gradient and the input together."""
    return broadcast(result_type(grad_output, self), grad_output, self)


# Weights for channels -----------------------------------------------------------------------------------------------


def prelu_kernel(self: Tensor, weight: Tensor) -> Result:
    """The shape of both together."""
    return broadcast(result_type(self, weight), self, weight)


def prelu_kernel_backward(grad_output: Tensor, self: Tensor, weight: Tensor) -> tuple[Result, Result]:
    """The gradients of both, of the shape of all together."""
    common = result_type(grad_output, self, weight)
    _check_floats("prelu_backward_cpu", grad_output)
    result = broadcast(common, self, weight, grad_output)
    return result, result


# Random slopes ------------------------------------------------------------------------------------------------------


def rrelu_with_noise(
    self: Tensor, noise: Tensor, lower: Number, upper: Number, training: bool, generator: Generator | None
) -> Result:
    """The same shape and dtype, row-major; the noise has the same shape."""
    if self._shape != noise._shape:
        raise ShapeError(
            f"noise tensor shape must match self tensor shape. Got self.shape = {list(self._shape)} noise.shape = "
            f"{list(noise._shape)}"
        )
    number_as(lower, self.dtype), number_as(upper, self.dtype)
    if training:
        _check_drawn(self)
    else:
        _check_floats("leaky_relu_cpu", self)
    return Result(self._shape, self.dtype)


def _check_drawn(self: Tensor) -> None:
    if self.dtype not in FLOATS or self.dtype.name == "float16":
        raise not_implemented_for("rrelu_with_noise_out_cpu", self.dtype)


# Gates: one half of a dimension opens and closes the other -----------------------------------------------------------


def glu(self: Tensor, dim: int) -> Result:
    """Half as many elements in one dimension."""
    if not self._shape:
        raise ShapeError("glu does not support 0-dimensional tensors")
    shape = halved(self._shape, dim)
    _check_floats("glu_cpu", self)
    return Result(shape, self.dtype)


def halved(shape: Shape, dim: int) -> Shape:
    """The sizes of one half of a tensor."""
    dim = wrap_dim(dim, len(shape))
    if shape[dim] % 2:
        raise ShapeError(f"Halving dimension must be even, but dimension {dim} is size {shape[dim]}")
    return (*shape[:dim], shape[dim] // 2, *shape[dim + 1 :])


def glu_backward(grad_output: Tensor, self: Tensor, dim: int) -> Result:
    """The input's shape."""
    if not self._shape:
        raise ShapeError("glu does not support 0-dimensional tensors")
    halved(self._shape, dim)
    if self.dtype.category < FLOATING:
        raise DtypeError(f"result type Float can't be cast to the desired output type {self.dtype.scalar_name}")
    _check_floats("glu_backward_cpu", self)
    return Result(self._shape, self.dtype, None, same_dtype)


def glu_jvp(glu: Tensor, x: Tensor, dx: Tensor, dim: int) -> Result:
    """The shape of the half."""
    size = glu._shape[wrap_dim(dim, len(glu._shape))]
    x.narrow(dim, size, size), dx.narrow(dim, size, size)  # refuse what is too short
    _check_full("glu_jvp_cpu", glu)
    return broadcast(glu.dtype, glu)


def glu_backward_jvp(grad_x: Tensor, grad_glu: Tensor, x: Tensor, dgrad_glu: Tensor, dx: Tensor, dim: int) -> Result:
    """The input's shape."""
    return Result(grad_x._shape, grad_x.dtype)


# Dtypes -----------------------------------------------------------------------------------------------------------


def _check_floats(label: str, self: Tensor) -> None:
    if self.dtype not in FLOATS:
        raise not_implemented_for(label, self.dtype)


def _check_full(label: str, self: Tensor) -> None:
    if self.dtype not in FLOATS or self.dtype.itemsize == 2:
        raise not_implemented_for(label, self.dtype)
