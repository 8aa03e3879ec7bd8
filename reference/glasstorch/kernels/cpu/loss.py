"""How are losses and their gradients computed on the CPU?

Mirrors: aten/src/ATen/native/LossNLL.cpp, LossNLL2d.cpp, Loss.cpp, cpu/BinaryOpsKernel.cpp (mse_kernel)
Differs: one kernel serves nll_loss and nll_loss2d: targets may have any number of inner dimensions. Half precision is
    added in float32, and other floats in their own dtype: NumPy adds pairwise, which is exact enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import HALF_PRECISION, dtype
from glasstorch.core.errors import DimensionError
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import as_dtype, widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, finish, shape_function, structured
from glasstorch.operators.shapes import loss as shapes
from glasstorch.operators.shapes.loss import MEAN, NONE

CPU = KernelTable("CPU")

# nll_loss -------------------------------------------------------------------------------------------------------


@slot
def named(shape: Shape, targets: Array, ignore_index: int) -> tuple[Array | slice, Array, Array]:
    """What targets (N, ...) select from scores of sizes `shape`, (N, C, ...), in row-major order.

    Which of the targets count, the classes that these name, and the places of their scores among all scores. Refuses a
    class that does not exist.
    """
    counted = targets != ignore_index
    sample, *places = np.nonzero(counted)
    classes = targets[counted]
    wrong = classes[(classes < 0) | (classes >= shape[1])]
    if wrong.size:
        raise DimensionError(f"Target {wrong[0]} is out of bounds.")
    positions = np.ravel_multi_index((sample, classes, *places), shape) if classes.size else classes
    return counted.reshape(-1), classes, positions


def batched(self: Tensor, target: Tensor) -> tuple[Array, Array]:
    """Scores (N, C, ...) and targets (N, ...) as int64; a single sample becomes a batch of one."""
    scores, targets = self.array(), target.array().astype(np.int64, copy=False)
    return (scores, targets) if scores.ndim > 1 else (scores[None], targets.reshape(1))


def nll_loss(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    """The loss and the total weight."""
    dtype = self.dtype.numpy
    scores, targets = batched(self, target)
    counted, classes, positions = named.run(scores.shape, targets, ignore_index)
    losses = widened(scores.reshape(-1).take(positions))
    total_weight: Any = classes.size
    if weight is not None:
        weights = widened(weight.array().reshape(-1).take(classes))
        losses *= weights
        total_weight = np.add.reduce(weights)
    if reduction == NONE and len(self._shape) > 1:
        every = np.zeros(targets.shape, dtype)
        every.reshape(-1)[counted] = -losses
        return every, np.zeros((), dtype)
    loss = -np.add.reduce(losses)
    return as_dtype.run(loss / total_weight if reduction == MEAN else loss, dtype), as_dtype.run(total_weight, dtype)


def nll_loss_gradient(
    grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, total: Tensor
) -> Array:
    """Minus the weight at each counted target, 0 elsewhere; `total` is the weight of all targets."""
    scores, targets = batched(self, target)
    counted, classes, positions = named.run(scores.shape, targets, ignore_index)
    share: Array = np.negative(widened(grad.array())).reshape(-1)
    if reduction == NONE and len(self._shape) > 1:
        share = share[counted]
    elif reduction == MEAN:
        share = np.true_divide(share, widened(total.array()))
    if weight is not None:
        share = share * widened(weight.array().reshape(-1).take(classes))
    gradient = np.zeros_like(scores, order="C")
    gradient.reshape(-1)[positions] = share
    return gradient.reshape(self._shape)


def register_nll_loss(name: str) -> None:
    """Register the two kernels of nll_loss, or of nll_loss2d."""
    check, check_backward = shape_function(f"{name}_forward"), shape_function(f"{name}_backward")

    def forward(keys: int, self: Tensor, *arguments: Any) -> tuple[Tensor, Tensor]:
        check(self, *arguments)
        loss, total_weight = quietly(nll_loss, self, *arguments)
        return wrap(loss, self.dtype), wrap(total_weight, self.dtype)

    def backward(keys: int, *arguments: Any) -> Tensor:
        dtype = check_backward(*arguments).dtype
        return wrap(quietly(nll_loss_gradient, *arguments), dtype)

    CPU.add(f"{name}_forward", forward)
    CPU.add(f"{name}_backward", backward)


# mse_loss -------------------------------------------------------------------------------------------------------


@structured(CPU, "mse_loss")
def mse_loss(keys: int, self: Tensor, target: Tensor, reduction: int, out: Out = None) -> Tensor:
    """The squared differences, their mean or their sum. As in PyTorch, half precision is rounded before it is added."""
    dtype = shapes.mse_loss(self, target, reduction).dtype

    def losses() -> Any:
        squares = np.square(np.subtract(_operand(self, dtype), _operand(target, dtype)))
        if reduction == NONE:
            return squares
        if dtype in HALF_PRECISION:
            squares = widened(squares.astype(dtype.numpy))
        total = np.add.reduce(squares, None)
        return np.true_divide(total, squares.size) if reduction == MEAN else total

    return finish(quietly(losses), dtype, out)


@structured(CPU, "mse_loss_backward")
def mse_loss_backward(
    keys: int, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, out: Out = None
) -> Tensor:
    """Twice the difference times the gradient, divided by the number of elements for the mean."""
    dtype = shapes.mse_loss_backward(grad_output, self, target, reduction).dtype

    def gradient() -> Any:
        difference = np.subtract(_operand(self, dtype), _operand(target, dtype))
        factor = 2 / difference.size if reduction == MEAN and difference.size else 2
        return difference * (_operand(grad_output, dtype) * factor)

    return finish(quietly(gradient), dtype, out)


def _operand(tensor: Tensor, dtype: dtype) -> Array:
    """The tensor's elements in the dtype that `dtype` is computed in."""
    return widened(tensor.array().astype(dtype.numpy, copy=False))


register_nll_loss("nll_loss")
register_nll_loss("nll_loss2d")
