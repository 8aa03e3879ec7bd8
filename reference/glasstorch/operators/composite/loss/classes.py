"""How are losses of classes composed of other operators?

Mirrors: aten/src/ATen/native/LossNLL.cpp (nll_loss, nll_loss_nd, cross_entropy_loss), LossNLL2d.cpp (nll_loss2d),
    LossMultiLabelMargin.cpp (multilabel_margin_loss)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from glasstorch.core.errors import ArgumentError, ArgumentValueError, DtypeError, ShapeError
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.loss.shared import MEAN, NONE

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# nll_loss -------------------------------------------------------------------------------------------------------


def nll_loss(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """The loss without the total weight, which only the gradient needs."""
    return f.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]  # type: ignore[no-any-return]


def nll_loss2d(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """As nll_loss, with a target for each pixel."""
    return f.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]  # type: ignore[no-any-return]


def nll_loss_nd(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Tensor:
    """One and two dimensions use nll_loss, four nll_loss2d; others are viewed as an image of one row."""
    scores, targets = self._shape, target._shape
    if not scores:
        raise ArgumentValueError("Expected 1 or more dimensions (got 0)")
    if len(scores) > 1 and scores[:1] != targets[:1]:
        raise ArgumentValueError(
            f"Expected input batch_size ({scores[0]}) to match target batch_size ({targets[0] if targets else 0})."
        )
    if len(scores) <= 2:
        return f.nll_loss(self, target, weight, reduction, ignore_index)
    if len(scores) == 4:
        return f.nll_loss2d(self, target, weight, reduction, ignore_index)
    expected = (scores[0], *scores[2:])
    if targets != expected:
        raise ShapeError(f"Expected target size {list(expected)}, got {list(targets)}")
    batch, classes = scores[:2]
    row = (1, math.prod(scores[2:]))
    image = self.contiguous().view((batch, classes, *(row if self.numel() else (0, 0))))
    marks = target.contiguous().view((batch, *(row if target.numel() else (0, 0))))
    loss = f.nll_loss2d(image, marks, weight, reduction, ignore_index)
    return loss.view(expected) if reduction == NONE else loss


# cross_entropy --------------------------------------------------------------------------------------------------


def cross_entropy_loss(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, label_smoothing: float
) -> Tensor:
    """log_softmax, then nll_loss; if the target has the input's shape, it holds class probabilities."""
    if self._shape == target._shape:
        if not target.dtype.is_floating_point:
            raise DtypeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.scalar_name}"
            )
        if ignore_index >= 0:
            raise ArgumentError(f"ignore_index is not supported for floating point target, got {ignore_index}")
        return _under_probabilities(self, target, weight, reduction, label_smoothing)
    if label_smoothing > 0:
        return _smoothed(self, target, weight, reduction, ignore_index, label_smoothing)
    return f.nll_loss_nd(_log_probabilities(self), target, weight, reduction, ignore_index)


def _class_dim(self: Tensor) -> int:
    return 0 if len(self._shape) == 1 else 1


def _log_probabilities(self: Tensor) -> Tensor:
    return f.log_softmax(self, _class_dim(self), self.dtype)


def _check_smoothing(label_smoothing: float) -> None:
    if label_smoothing > 1:
        raise ArgumentError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def _share(label_smoothing: float, classes: int) -> float:
    """The weight that label smoothing gives to each class."""
    return label_smoothing / classes if classes else math.inf


def _for_each_class(weight: Tensor, input: Tensor) -> Tensor:
    """The weights along the class dimension, ready to be broadcast with the input."""
    shape = [1] * len(input._shape)
    shape[_class_dim(input)] = weight._shape[0]
    return weight.view(shape)


def _under_probabilities(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, label_smoothing: float
) -> Tensor:
    """-sum(target * log p) over the classes; smoothing mixes the target with equal probabilities."""
    class_dim = _class_dim(self)
    classes = self._shape[class_dim] if self._shape else 1
    if weight is not None and weight._shape != (classes,):
        raise ShapeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {list(weight._shape)}"
        )
    input = _log_probabilities(self)
    if label_smoothing > 0:
        _check_smoothing(label_smoothing)
        target = target * (1 - label_smoothing) + _share(label_smoothing, classes)
    terms = input * target
    if weight is not None:
        terms = terms * _for_each_class(weight, input)
    if reduction == NONE:
        return -terms.sum(class_dim)
    if reduction != MEAN:
        return -terms.sum()
    if not input.numel():
        return (-terms.sum()).fill_(math.nan)
    return -terms.sum() / (input.numel() // classes)


def _smoothed(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, label_smoothing: float
) -> Tensor:
    """The loss of the target class, mixed with the loss under equal probabilities."""
    _check_smoothing(label_smoothing)
    input = _log_probabilities(self)
    named = f.nll_loss_nd(input, target, weight, reduction, ignore_index)
    class_dim = _class_dim(input)
    weighted = input if weight is None else input * _for_each_class(weight, input)
    ignored = f.eq(target, ignore_index)
    equal = (-weighted.sum(class_dim)).masked_fill(ignored, 0.0)
    if reduction != NONE:
        equal = equal.sum()
    if reduction == MEAN and weight is None:
        equal = equal / (~ignored).sum()
    elif reduction == MEAN and weight is not None:
        named_weights = weight.gather(0, target.masked_fill(ignored, 0).flatten())
        equal = equal / named_weights.masked_fill(ignored.flatten(), 0).sum()
    return (1 - label_smoothing) * named + equal * _share(label_smoothing, input._shape[class_dim])


# multilabel_margin_loss -----------------------------------------------------------------------------------------


def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """The loss without the marks of targets, which only the gradient needs."""
    return f.multilabel_margin_loss_forward(self, target, reduction)[0]  # type: ignore[no-any-return]
