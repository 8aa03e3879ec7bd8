"""How are activations composed of other operators?

Mirrors: aten/src/ATen/native/Activation.cpp (selu, celu, relu6, rrelu, prelu, log_sigmoid, rrelu_with_noise_backward),
    GatedLinearUnit.cpp (glu_backward_jvp)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.geometry import existing_dim
from glasstorch.core.random.generator import Generator
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# with these, numbers of mean 0 and variance 1 keep both from layer to layer
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def relu6(self: Tensor) -> Tensor:
    """Each element between 0 and 6."""
    return f.hardtanh(self, 0, 6)


def relu6_(self: Tensor) -> Tensor:
    """As relu6, in place."""
    return f.hardtanh_(self, 0, 6)


def selu(self: Tensor) -> Tensor:
    """The elu of which normal numbers stay normal."""
    return f.elu(self, SELU_ALPHA, SELU_SCALE)


def selu_(self: Tensor) -> Tensor:
    """As selu, in place."""
    return f.elu_(self, SELU_ALPHA, SELU_SCALE)


def celu(self: Tensor, alpha: Number) -> Tensor:
    """The elu that is continuously differentiable for every alpha."""
    return f.elu(self, alpha, 1.0, _inverse(alpha))


def celu_(self: Tensor, alpha: Number) -> Tensor:
    """As celu, in place."""
    return f.elu_(self, alpha, 1.0, _inverse(alpha))


def _inverse(alpha: Number) -> float:
    if alpha == 0:
        raise ArgumentError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return 1 / float(alpha.real)


def log_sigmoid(self: Tensor) -> Tensor:
    """The logarithm of the sigmoid, without what its gradient needs."""
    return f.log_sigmoid_forward(self)[0]  # type: ignore[no-any-return]


def prelu(self: Tensor, weight: Tensor) -> Tensor:
    """A slope below 0 for each channel, which is dimension 1, or one for all."""
    if self.dtype is not weight.dtype:
        raise ArgumentError(
            f"prelu: Type promoting not supported. Got {self.dtype.scalar_name} and {weight.dtype.scalar_name}"
        )
    count, dims = weight.numel(), len(self._shape)
    if count != 1:
        if not dims:
            raise ShapeError("Not allow zero-dim input tensor.")
        channels = self._shape[1] if dims > 1 else 1
        if channels != count:
            raise ShapeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} and channel "
                f"size = {channels}."
            )
    if len(weight._shape) > 1:
        raise ShapeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {len(weight._shape)}")
    if len(weight._shape) != dims:
        shape = [1] * dims
        if dims > 1:
            shape[1] = count
        weight = weight.reshape(shape)
    return f._prelu_kernel(self, weight)


# Random slopes ------------------------------------------------------------------------------------------------------


def rrelu(self: Tensor, lower: Number, upper: Number, training: bool, generator: Generator | None) -> Tensor:
    """Random slopes below 0 in training, else the middle one."""
    _check_range(lower, upper)
    return f.rrelu_with_noise(self, f.empty_like(self), lower, upper, training, generator)


def rrelu_(self: Tensor, lower: Number, upper: Number, training: bool, generator: Generator | None) -> Tensor:
    """As rrelu, in place."""
    _check_range(lower, upper)
    return f.rrelu_with_noise_(self, f.empty_like(self), lower, upper, training, generator)


def _check_range(lower: Number, upper: Number) -> None:
    if lower.real > upper.real:
        raise ArgumentError("Lower bound should be less than or equal to the upper bound")


def rrelu_with_noise_backward(
    grad_output: Tensor,
    self: Tensor,
    noise: Tensor,
    lower: Number,
    upper: Number,
    training: bool,
    self_is_result: bool,
) -> Tensor:
    """The gradient times the slopes that were drawn, or that of leaky_relu with the middle one."""
    if training and upper.real - lower.real > 1e-6:
        return grad_output * noise
    slope = (float(lower.real) + float(upper.real)) / 2
    return f.leaky_relu_backward(grad_output, self, slope, self_is_result)


def rrelu_with_noise_functional(
    self: Tensor, noise: Tensor, lower: Number, upper: Number, training: bool, generator: Generator | None
) -> tuple[Tensor, Tensor]:
    """As rrelu_with_noise, with the slopes as a second result."""
    slopes = noise.clone()
    return f.rrelu_with_noise(self, slopes, lower, upper, training, generator), slopes


# Gradients of gradients -----------------------------------------------------------------------------------------------


def glu_backward_jvp(grad_x: Tensor, grad_glu: Tensor, x: Tensor, dgrad_glu: Tensor, dx: Tensor, dim: int) -> Tensor:
    """The directional derivative of glu's gradient; `grad_x` is that gradient."""
    dim = existing_dim(dim, x.dim())
    size = grad_glu.size(dim)
    left, gate, dleft, dgate = (
        half for both in (x, dx) for half in (both.narrow(dim, 0, size), both.narrow(dim, size, size))
    )
    opened = gate.sigmoid()
    closed = 1 - opened
    grad_left = grad_x.narrow(dim, 0, size)  # grad_glu * opened
    dgrad_left = dgrad_glu * opened + grad_left * closed * dgate
    dgrad_gate = (dgrad_left * left + grad_left * dleft - grad_left * left * opened * dgate) * closed
    return f.cat([dgrad_left, dgrad_gate], dim)
