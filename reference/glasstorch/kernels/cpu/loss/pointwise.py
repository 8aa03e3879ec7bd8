"""How are losses computed on the CPU that compare element with element?

Mirrors: aten/src/ATen/native/Loss.cpp, cpu/BinaryOpsKernel.cpp (mse_kernel, smooth_l1_kernel, huber_kernel),
    cpu/PointwiseOpsKernel.cpp (their gradients)
Differs: floats other than half precision are added in their own dtype: NumPy adds pairwise, which is exact enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import HALF_PRECISION, dtype
from glasstorch.core.errors import ArgumentError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, finish, structured
from glasstorch.operators.shapes.loss import pointwise as shapes
from glasstorch.operators.shapes.loss.shared import MEAN, NONE
from glasstorch.operators.shapes.promotion import result_type

CPU = KernelTable("CPU")

# mse_loss -------------------------------------------------------------------------------------------------------


@structured(CPU, "mse_loss")
def mse_loss(keys: int, self: Tensor, target: Tensor, reduction: int, out: Out = None) -> Tensor:
    """The squared differences, their mean or their sum."""
    dtype = shapes.mse_loss(self, target, reduction).dtype
    return finish(quietly(lambda: reduced(np.square(_gap(self, target, dtype)), reduction, dtype)), dtype, out)


@structured(CPU, "mse_loss_backward")
def mse_loss_backward(
    keys: int, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, out: Out = None
) -> Tensor:
    """Twice the difference times the gradient, divided by the number of elements for the mean."""
    dtype = shapes.mse_loss_backward(grad_output, self, target, reduction).dtype

    def gradient() -> Any:
        gap = _gap(self, target, dtype)
        return gap * (_operand(grad_output, dtype) * (2 * _share(gap, reduction)))

    return finish(quietly(gradient), dtype, out)


# smooth_l1_loss -------------------------------------------------------------------------------------------------


@structured(CPU, "smooth_l1_loss")
def smooth_l1_loss(keys: int, self: Tensor, target: Tensor, reduction: int, beta: float, out: Out = None) -> Tensor:
    """`gap**2 / (2 * beta)` below beta, and `gap - beta / 2` from there on: the two lines meet with one slope."""
    dtype = shapes.smooth_l1_loss(self, target, reduction, beta).dtype

    def losses() -> Any:
        gap = np.abs(_gap(self, target, dtype))
        return reduced(np.where(gap < beta, 0.5 * gap * gap / beta, gap - 0.5 * beta), reduction, dtype)

    return finish(quietly(losses), dtype, out)


@structured(CPU, "smooth_l1_loss_backward")
def smooth_l1_loss_backward(
    keys: int, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, beta: float, out: Out = None
) -> Tensor:
    """The difference divided by beta, between -1 and 1."""
    result = shapes.smooth_l1_loss_backward(grad_output, self, target, reduction, beta)
    dtype = result_type(self, target, grad_output)

    def gradient() -> Any:
        gap = _gap(self, target, dtype)
        slopes = np.where(gap <= -beta, -1, np.where(gap >= beta, 1, gap / beta))
        return slopes.astype(gap.dtype) * (_operand(grad_output, dtype) * _share(gap, reduction))

    return finish(quietly(gradient), result.dtype, out)


# huber_loss -----------------------------------------------------------------------------------------------------


@structured(CPU, "huber_loss")
def huber_loss(keys: int, self: Tensor, target: Tensor, reduction: int, delta: float, out: Out = None) -> Tensor:
    """`gap**2 / 2` below delta, and `delta * (gap - delta / 2)` from there on."""
    result = shapes.huber_loss(self, target, reduction, delta)
    dtype = result_type(self, target)

    def losses() -> Any:
        gap = np.abs(_gap(self, target, dtype))
        return reduced(np.where(gap < delta, 0.5 * gap * gap, delta * (gap - 0.5 * delta)), reduction, result.dtype)

    return finish(quietly(losses), result.dtype, out)


@structured(CPU, "huber_loss_backward")
def huber_loss_backward(
    keys: int, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, delta: float, out: Out = None
) -> Tensor:
    """The difference, between -delta and delta."""
    dtype = shapes.huber_loss_backward(grad_output, self, target, reduction, delta).dtype

    def gradient() -> Any:
        gap = _gap(self, target, dtype)
        return np.clip(gap, -delta, delta) * (_operand(grad_output, dtype) * _share(gap, reduction))

    return finish(quietly(gradient), dtype, out)


# binary_cross_entropy -------------------------------------------------------------------------------------------

LEAST_LOG = -100  # stands for the logarithm of 0
LEAST_VARIANCE = 1e-12  # p * (1 - p) of a probability that is 0 or 1


@structured(CPU, "binary_cross_entropy")
def binary_cross_entropy(
    keys: int, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, out: Out = None
) -> Tensor:
    """`-(target * log(p) + (1 - target) * log(1 - p))`, weighted; no logarithm is below -100."""
    dtype = shapes.binary_cross_entropy(self, target, weight, reduction).dtype

    def losses() -> Any:
        p, wanted = _operand(self, dtype), _operand(target, dtype)
        for name, shares in (("input", p), ("target", wanted)):
            if not ((shares >= 0) & (shares <= 1)).all():
                raise ArgumentError(f"all elements of {name} should be between 0 and 1")
        each = (wanted - 1) * np.maximum(np.log1p(-p), LEAST_LOG) - wanted * np.maximum(np.log(p), LEAST_LOG)
        return reduced(_weighted(each, weight, dtype), reduction, dtype)

    return finish(quietly(losses), dtype, out)


@structured(CPU, "binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    keys: int,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    out: Out = None,
) -> Tensor:
    """`(p - target) / (p * (1 - p))`, weighted, times the gradient."""
    dtype = shapes.binary_cross_entropy_backward(grad_output, self, target, weight, reduction).dtype

    def gradient() -> Any:
        p, wanted = _operand(self, dtype), _operand(target, dtype)
        slopes = (p - wanted) / np.maximum((1 - p) * p, p.dtype.type(LEAST_VARIANCE))
        return _weighted(slopes * _operand(grad_output, dtype), weight, dtype) * p.dtype.type(_share(p, reduction))

    return finish(quietly(gradient), dtype, out)


# Parts of all ---------------------------------------------------------------------------------------------------


def reduced(losses: Array, reduction: int, dtype: dtype) -> Any:
    """The losses, their mean or their sum. As in PyTorch, half precision is rounded before it is added."""
    if reduction == NONE:
        return losses
    if dtype in HALF_PRECISION:
        losses = widened(losses.astype(dtype.numpy))
    total = np.add.reduce(losses, None)
    return np.true_divide(total, losses.size) if reduction == MEAN else total


def _share(elements: Array, reduction: int) -> float:
    """How much of the gradient of the loss each element has."""
    return 1 / elements.size if reduction == MEAN and elements.size else 1


def _gap(self: Tensor, target: Tensor, dtype: dtype) -> Any:
    return np.subtract(_operand(self, dtype), _operand(target, dtype))


def _weighted(losses: Array, weight: Tensor | None, dtype: dtype) -> Array:
    return losses if weight is None else losses * _operand(weight, dtype)


def _operand(tensor: Tensor, dtype: dtype) -> Array:
    """The tensor's elements in the dtype that `dtype` is computed in."""
    return widened(tensor.array().astype(dtype.numpy, copy=False))
