"""What shape and dtype do losses have that compare element with element?

Mirrors: aten/src/ATen/native/Loss.cpp (TORCH_META_FUNC and checks)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import FLOATS, check_can_cast, dtype
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.operators.shapes.loss.shared import NONE
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# Differences ----------------------------------------------------------------------------------------------------


def mse_loss(self: Tensor, target: Tensor, reduction: int) -> Result:
    """The broadcast shape of both unless reduced."""
    return _of_differences("mse_cpu", self, target, reduction)


def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int, beta: float) -> Result:
    """The broadcast shape of both unless reduced."""
    if beta < 0:
        raise ArgumentError("smooth_l1_loss does not support negative values for beta.")
    return _of_differences("smooth_l1_cpu", self, target, reduction)


def huber_loss(self: Tensor, target: Tensor, reduction: int, delta: float) -> Result:
    """As smooth_l1_loss, in the dtype of the input."""
    if delta <= 0:
        raise ArgumentError("huber_loss does not support non-positive values for delta.")
    result = _of_differences("huber_cpu", self, target, reduction)
    check_can_cast(result.dtype, self.dtype)
    return result._replace(dtype=self.dtype)


def _of_differences(kernel: str, self: Tensor, target: Tensor, reduction: int) -> Result:
    shape = broadcast_shapes(self._shape, target._shape)
    computed = result_type(self, target)
    if computed not in FLOATS:
        raise not_implemented_for(kernel, computed)
    return Result(shape if reduction == NONE else (), computed)


def mse_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int) -> Result:
    """The broadcast shape of all three, in the dtype of the input."""
    return _gradient("mse_backward_cpu_out", grad_output, self, target)


def smooth_l1_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float) -> Result:
    """The broadcast shape of all three, in the dtype of the input."""
    return _gradient("smooth_l1_backward_cpu_out", grad_output, self, target)


def huber_loss_backward(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float) -> Result:
    """The broadcast shape of all three, which have one dtype."""
    shape = broadcast_shapes(self._shape, target._shape, grad_output._shape)
    for other in (grad_output, target):
        _check_found(self.dtype, other.dtype)
    if self.dtype not in FLOATS:
        raise not_implemented_for("huber_backward_cpu_out", self.dtype)
    return Result(shape, self.dtype)


def _gradient(kernel: str, grad_output: Tensor, self: Tensor, target: Tensor) -> Result:
    shape = broadcast_shapes(self._shape, target._shape, grad_output._shape)
    computed = result_type(self, target, grad_output)
    check_can_cast(computed, self.dtype)
    if computed not in FLOATS:
        raise not_implemented_for(kernel, computed)
    return Result(shape, self.dtype)


# Probabilities --------------------------------------------------------------------------------------------------


def binary_cross_entropy(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Result:
    """The shape of the input unless reduced."""
    _check_probabilities(self, target)
    if self.dtype not in FLOATS:
        raise not_implemented_for("binary_cross_entropy", self.dtype)
    _check_weight(self, weight)
    return Result(self._shape if reduction == NONE else (), self.dtype)


def binary_cross_entropy_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Result:
    """The shape of the input."""
    for other in (self, target):
        _check_found(grad_output.dtype, other.dtype)
    _check_probabilities(self, target)
    broadcast_shapes(self._shape, grad_output._shape)
    if self.dtype not in FLOATS:
        raise not_implemented_for("binary_cross_entropy_backward", self.dtype)
    _check_weight(self, weight)
    return Result(self._shape, self.dtype)


def _check_probabilities(self: Tensor, target: Tensor) -> None:
    """One dtype, and sizes that broadcast to those of the input."""
    if broadcast_shapes(self._shape, target._shape) != self._shape:
        raise ShapeError(
            f"Using a target size {list(target._shape)} that does not broadcast to the input size {list(self._shape)}"
        )
    _check_found(self.dtype, target.dtype)


def _check_found(expected: dtype, found: dtype) -> None:
    if expected is not found:
        raise DtypeError(f"Found dtype {found.scalar_name} but expected {expected.scalar_name}")


def _check_weight(self: Tensor, weight: Tensor | None) -> None:
    """Weights broadcast to the input's sizes and are cast to its dtype."""
    if weight is None:
        return
    shape = broadcast_shapes(self._shape, weight._shape)
    if shape != self._shape:
        raise ShapeError(f"output with shape {list(self._shape)} doesn't match the broadcast shape {list(shape)}")
    check_can_cast(result_type(self, weight), self.dtype)
