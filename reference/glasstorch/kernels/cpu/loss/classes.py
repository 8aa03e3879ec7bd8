"""How are losses of classes, and their gradients, computed on the CPU?

Mirrors: aten/src/ATen/native/LossNLL.cpp, LossNLL2d.cpp, LossMultiMargin.cpp, LossMultiLabelMargin.cpp
Differs: one kernel serves nll_loss and nll_loss2d: targets may have any number of inner dimensions. Half precision is
    added in float32, and other floats in their own dtype: NumPy adds pairwise, which is exact enough. Margins between
    all pairs of classes are one array, in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number
from glasstorch.core.errors import DimensionError, IndexValueError
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import as_dtype, widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, Outs, add_structured, finish, shape_function, structured
from glasstorch.operators.shapes.loss import classes as shapes
from glasstorch.operators.shapes.loss.shared import MEAN, NONE

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

    def forward(keys: int, self: Tensor, *arguments: Any, out: Outs = None) -> tuple[Tensor, Tensor]:
        check(self, *arguments)
        loss, total_weight = quietly(nll_loss, self, *arguments)
        to_loss, to_weight = out or (None, None)
        return finish(loss, self.dtype, to_loss), finish(total_weight, self.dtype, to_weight)

    def backward(keys: int, *arguments: Any, out: Out = None) -> Tensor:
        dtype = check_backward(*arguments).dtype
        return finish(quietly(nll_loss_gradient, *arguments), dtype, out)

    add_structured(CPU, f"{name}_forward", forward)
    add_structured(CPU, f"{name}_backward", backward)


register_nll_loss("nll_loss")
register_nll_loss("nll_loss2d")

# multi_margin_loss ----------------------------------------------------------------------------------------------


@structured(CPU, "multi_margin_loss")
def multi_margin_loss(
    keys: int,
    self: Tensor,
    target: Tensor,
    p: Number,
    margin: Number,
    weight: Tensor | None,
    reduction: int,
    out: Out = None,
) -> Tensor:
    """What each class lacks of the margin to the target class, to the power p, averaged over the classes."""
    result = shapes.multi_margin_loss(self, target, p, margin, weight, reduction)

    def losses() -> Any:
        lacking, weights, _ = missed_margins(self, target, margin, weight)
        each = np.add.reduce(weights * lacking**p, 1) / lacking.shape[1]
        return each.reshape(result.shape) if reduction == NONE else over_samples(each, reduction)

    return finish(quietly(losses), result.dtype, out)


@structured(CPU, "multi_margin_loss_backward")
def multi_margin_loss_backward(
    keys: int,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    p: Number,
    margin: Number,
    weight: Tensor | None,
    reduction: int,
    out: Out = None,
) -> Tensor:
    """Each class that lacks some of the margin is pushed down, the target class up by as much as all of them."""
    result = shapes.multi_margin_loss_backward(grad_output, self, target, p, margin, weight, reduction)

    def gradient() -> Any:
        lacking, weights, classes = missed_margins(self, target, margin, weight)
        slopes = weights * ((lacking > 0) if p == 1 else 2 * lacking)
        slopes[np.arange(len(classes)), classes] = -np.add.reduce(slopes, 1)
        return (slopes * share_of_each(grad_output, slopes.shape, reduction)).reshape(result.shape)

    return finish(quietly(gradient), result.dtype, out)


def missed_margins(self: Tensor, target: Tensor, margin: Number, weight: Tensor | None) -> tuple[Array, Array, Array]:
    """What each class lacks of the margin (N, C), the weight of each sample (N, 1), and the target classes (N).

    The target class itself lacks nothing.
    """
    scores, classes = samples(self), target.array().reshape(-1)
    if classes.size and not (classes.min() >= 0 and classes.max() < scores.shape[1]):
        raise IndexValueError("target out of range")
    rows = np.arange(len(classes))
    lacking = positive(margin - scores[rows, classes][:, None] + scores)
    lacking[rows, classes] = 0
    weights = np.ones(1) if weight is None else weight.array().reshape(-1)[classes].astype(np.float64)
    return lacking, weights[:, None], classes


# multilabel_margin_loss -----------------------------------------------------------------------------------------


@structured(CPU, "multilabel_margin_loss_forward")
def multilabel_margin_loss_forward(
    keys: int, self: Tensor, target: Tensor, reduction: int, out: Outs = None
) -> tuple[Tensor, Tensor]:
    """What all classes that are no targets lack of the margin 1 to all targets, averaged over the classes."""
    result, marks = shapes.multilabel_margin_loss_forward(self, target, reduction)

    def losses() -> Any:
        lacking, _, is_target = missed_by_labels(self, target)
        each = np.add.reduce(lacking, (1, 2)) / lacking.shape[2]
        return (each.reshape(result.shape) if reduction == NONE else over_samples(each, reduction)), is_target

    loss, is_target = quietly(losses)
    to_loss, to_marks = out or (None, None)
    return finish(loss, result.dtype, to_loss), finish(is_target.reshape(marks.shape), marks.dtype, to_marks)


@structured(CPU, "multilabel_margin_loss_backward")
def multilabel_margin_loss_backward(
    keys: int,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    reduction: int,
    is_target: Tensor,
    out: Out = None,
) -> Tensor:
    """Each pair of a target and another class that lacks some of the margin is pushed apart."""
    result = shapes.multilabel_margin_loss_backward(grad_output, self, target, reduction, is_target)

    def gradient() -> Any:
        lacking, labels, _ = missed_by_labels(self, target)
        pairs = (lacking > 0).astype(np.float64)  # (N, targets, C)
        slopes = np.add.reduce(pairs, 1)
        np.subtract.at(slopes, (np.arange(len(labels))[:, None], labels), np.add.reduce(pairs, 2))
        return (slopes * share_of_each(grad_output, slopes.shape, reduction)).reshape(result.shape)

    return finish(quietly(gradient), result.dtype, out)


def missed_by_labels(self: Tensor, target: Tensor) -> tuple[Array, Array, Array]:
    """What class c of sample n lacks of the margin to the t-th target: (N, targets, C).

    Also the targets (N, C), of which the first -1 and all behind it count for nothing, and whether a class is one.
    """
    scores = samples(self)
    labels = target.array().reshape(scores.shape)
    if labels.size and not (labels.min() >= -1 and labels.max() < scores.shape[1]):
        raise IndexValueError(
            f"target is out of range; expected classes below {scores.shape[1]}, or -1 behind the last"
        )
    counted = np.logical_and.accumulate(labels >= 0, 1)
    rows = np.arange(len(labels))[:, None]
    is_target = np.zeros(scores.shape, bool)
    is_target[np.broadcast_to(rows, labels.shape)[counted], labels[counted]] = True
    lacking = positive(1 - scores[rows, labels][:, :, None] + scores[:, None, :])
    return lacking * (counted[:, :, None] & ~is_target[:, None, :]), labels, is_target


# Samples --------------------------------------------------------------------------------------------------------


def samples(self: Tensor) -> Array:
    """The scores (N, C) in float64; a single sample becomes a batch of one."""
    scores = self.array()
    return (scores if scores.ndim == 2 else scores.reshape(1, -1)).astype(np.float64)


def positive(margins: Array) -> Array:
    """What is above 0, and 0 elsewhere: NaN lacks nothing."""
    return np.where(margins > 0, margins, 0)


def over_samples(each: Array, reduction: int) -> Any:
    """The mean or the sum of the samples' losses."""
    total = np.add.reduce(each)
    return np.true_divide(total, each.size) if reduction == MEAN else total


def share_of_each(grad_output: Tensor, shape: Shape, reduction: int) -> Array:
    """What a unit of slope adds to the gradient of each sample: (N, 1), or (1, 1) where all have the same share."""
    count = shape[1] * (shape[0] if reduction == MEAN else 1)
    return grad_output.array().astype(np.float64).reshape(-1, 1) / count
