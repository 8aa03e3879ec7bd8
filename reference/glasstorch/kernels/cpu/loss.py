"""How are losses and their gradients computed on the CPU?

Mirrors: aten/src/ATen/native/LossNLL.cpp, LossNLL2d.cpp, Loss.cpp, cpu/BinaryOpsKernel.cpp (mse_kernel)
Differs: one kernel serves nll_loss and nll_loss2d: targets may have any number of inner dimensions.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import empty_array
from glasstorch.core.dtype import HALF_PRECISION, dtype
from glasstorch.core.errors import DimensionError
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.reductions.sums import finish, widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import shape_function, structured
from glasstorch.operators.shapes.loss import MEAN, NONE
from glasstorch.operators.shapes.loss import mse_loss as mse_loss_shape
from glasstorch.operators.shapes.loss import mse_loss_backward as mse_loss_backward_shape

CPU = KernelTable("CPU")


def fresh(result: Any, dtype: np.dtype[Any]) -> Array:
    """A computed array or NumPy scalar as a row-major array of a dtype."""
    return np.asarray(result, dtype, order="C")


# nll_loss -------------------------------------------------------------------------------------------------------


class Named(NamedTuple):
    """What targets select: for each that counts, its class and the flat index of its score in scores (N, C, ...).

    `counted` says which targets count; None means all, which saves the common case a pass.
    """

    classes: Array
    positions: Array
    counted: Array | None


def named(shape: Shape, targets: Array, ignore_index: int) -> Named:
    """Read targets (N, ...) for scores of sizes `shape`, (N, C, ...); refuses a class that does not exist."""
    classes = shape[1]
    inner = math.prod(shape[2:])
    flat = targets.reshape(-1)
    # The scores of sample n at inner position p start at n * classes * inner + p; classes are `inner` apart.
    step = classes * inner
    positions: Array = np.arange(0, shape[0] * step, step) if step else np.zeros(shape[0], np.int64)
    if inner != 1:
        positions = (positions[:, None] + np.arange(inner)).reshape(-1)
    counted = None
    if 0 <= ignore_index < classes or _largest_unsigned(flat) >= classes:
        counted = flat != ignore_index
        flat, positions = flat[counted], positions[counted]
        if _largest_unsigned(flat) >= classes:
            wrong = flat[(flat < 0) | (flat >= classes)][0]
            raise DimensionError(f"Target {wrong} is out of bounds.")
    positions += flat if inner == 1 else flat * inner
    return Named(flat, positions, counted)


def _largest_unsigned(array: Array) -> int:
    """The largest element, with negative ones counted as huge; -1 if there are no elements."""
    return int(np.maximum.reduce(array.view(np.uint64))) if array.size else -1


def batched(self: Tensor, target: Tensor) -> tuple[Array, Array]:
    """Scores (N, C, ...) and targets (N, ...) as int64; a single sample becomes a batch of one."""
    scores, targets = self.array(), target.array()
    if targets.dtype != np.int64:
        targets = targets.astype(np.int64)
    if scores.ndim == 1:
        return scores[None], targets.reshape(1)
    return scores, targets


def nll_loss(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Array, Array]:
    """The loss and the total weight."""
    dtype = self.dtype.numpy
    scores, targets = batched(self, target)
    classes, positions, counted = named(scores.shape, targets, ignore_index)
    scored = widened(scores.reshape(-1).take(positions))
    total_weight: Any = classes.size
    if weight is not None:
        weights = widened(weight.array().reshape(-1).take(classes))
        scored *= weights
        total_weight = np.add.reduce(weights)
    if reduction == NONE and len(self._shape) > 1:
        losses = np.negative(scored)
        if counted is not None:
            losses, shown = np.zeros(targets.size, dtype), losses
            losses[counted] = shown
        return fresh(losses.reshape(targets.shape), dtype), np.zeros((), dtype)
    loss = -np.add.reduce(scored)
    return fresh(loss / total_weight if reduction == MEAN else loss, dtype), fresh(total_weight, dtype)


def nll_loss_gradient(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Array:
    """Minus the weight at each counted target, 0 elsewhere."""
    scores, targets = batched(self, target)
    classes, positions, counted = named(scores.shape, targets, ignore_index)
    gradient = empty_array(scores.shape, scores.dtype, scores.size * scores.itemsize)
    gradient.fill(0)
    share: Array = np.negative(widened(grad_output.array())).reshape(-1)
    if reduction == NONE and len(self._shape) > 1:
        share = share if counted is None else share[counted]
    elif reduction == MEAN:
        share = np.true_divide(share, widened(total_weight.array()))
    if weight is not None:
        share = share * widened(weight.array().reshape(-1).take(classes))
    gradient.reshape(-1)[positions] = share
    return gradient.reshape(self._shape)


def register_nll_loss(name: str) -> None:
    """Register the two kernels of nll_loss, or of nll_loss2d."""
    check, check_backward = shape_function(f"{name}_forward"), shape_function(f"{name}_backward")

    def forward(
        keys: int, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
    ) -> tuple[Tensor, Tensor]:
        check(self, target, weight, reduction, ignore_index)
        loss, total_weight = quietly(nll_loss, self, target, weight, reduction, ignore_index)
        return wrap(loss, self.dtype), wrap(total_weight, self.dtype)

    def backward(keys: int, *arguments: Any) -> Tensor:
        dtype = check_backward(*arguments).dtype
        return wrap(quietly(nll_loss_gradient, *arguments), dtype)

    CPU.add(f"{name}_forward", forward)
    CPU.add(f"{name}_backward", backward)


# mse_loss -------------------------------------------------------------------------------------------------------


def mse_loss(keys: int, self: Tensor, target: Tensor, reduction: int, out: Tensor | None = None) -> Tensor:
    """The squared differences, their mean or their sum."""
    dtype = mse_loss_shape(self, target, reduction).dtype
    return finish(quietly(squared_differences, self, target, reduction, dtype), dtype, out)


def squared_differences(self: Tensor, target: Tensor, reduction: int, dtype: dtype) -> Any:
    """As in PyTorch, half precision is rounded before it is averaged."""
    squares = np.square(np.subtract(_operand(self, dtype), _operand(target, dtype)))
    if reduction == NONE:
        return squares
    if dtype in HALF_PRECISION:
        squares = widened(squares.astype(dtype.numpy))
    result = np.add.reduce(squares, None)
    return np.true_divide(result, squares.size) if reduction == MEAN else result


def mse_loss_backward(
    keys: int, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, out: Tensor | None = None
) -> Tensor:
    """Twice the difference times the gradient, divided by the number of elements for the mean."""
    dtype = mse_loss_backward_shape(grad_output, self, target, reduction).dtype
    return finish(quietly(mse_gradient, grad_output, self, target, reduction, dtype), dtype, out)


def mse_gradient(grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, dtype: dtype) -> Any:
    """See mse_loss_backward."""
    difference = np.subtract(_operand(self, dtype), _operand(target, dtype))
    factor = 2 / difference.size if reduction == MEAN and difference.size else 2
    return difference * (_operand(grad_output, dtype) * factor)


def _operand(tensor: Tensor, dtype: dtype) -> Array:
    """The tensor's elements in the dtype that `dtype` is computed in."""
    return widened(tensor.array().astype(dtype.numpy, copy=False))


register_nll_loss("nll_loss")
register_nll_loss("nll_loss2d")
structured(CPU, "mse_loss", mse_loss)
structured(CPU, "mse_loss_backward", mse_loss_backward)
