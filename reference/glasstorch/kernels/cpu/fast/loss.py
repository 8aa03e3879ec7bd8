"""How is nll_loss computed fast?

Mirrors: aten/src/ATen/native/LossNLL.cpp
Differs: the positions of all scores are computed as one array.
"""

from __future__ import annotations

import math

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import int64
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast.pointwise.loops import plain_kernel
from glasstorch.kernels.cpu.loss import classes as plain
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.loss.shared import MEAN, NONE

ALL = slice(None)


@fast(plain.named, when="no target is out of bounds", benchmark="`cross_entropy`, 64x10", exact="bits")
def named(shape: Shape, targets: Array, ignore_index: int) -> tuple[Array | slice, Array, Array]:
    """One pass finds whether all targets count, which is the common case: no class is ignored, none out of bounds."""
    classes = shape[1]
    inner = math.prod(shape[2:])
    flat = targets.reshape(-1)
    # The scores of sample n at inner position p start at n * classes * inner + p; classes are `inner` apart.
    step = classes * inner
    positions: Array = np.arange(0, shape[0] * step, step) if step else np.zeros(shape[0], np.int64)
    if inner != 1:
        positions = (positions[:, None] + np.arange(inner)).reshape(-1)
    counted: Array | slice = ALL
    if 0 <= ignore_index < classes or _largest_unsigned(flat) >= classes:
        counted = flat != ignore_index
        flat, positions = flat[counted], positions[counted]
        if _largest_unsigned(flat) >= classes:
            return plain.named.plain(shape, targets, ignore_index)
    positions += flat if inner == 1 else flat * inner
    return counted, flat, positions


def _largest_unsigned(array: Array) -> int:
    """The largest element, with negative ones counted as huge; -1 if there are no elements."""
    return int(np.maximum.reduce(array.view(np.uint64))) if array.size else -1


# Kernels: a reduced loss of a batch, without weights, of which all targets count ----------------------------------

WHEN = "float32 or float64, row-major (N, C) with int64 targets (N) that all count, no weight, a mean or a sum"


def is_plain_batch(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> bool:
    """Whether the kernels below apply, if also all targets are classes."""
    scores = self._shape
    return (
        weight is None
        and reduction != NONE
        and self.dtype in DIRECT_FLOATS
        and target.dtype is int64
        and len(scores) == 2
        and target._shape == scores[:1]
        and scores[0] > 0
        and self._strides is None
        and not 0 <= ignore_index < scores[1]
    )


def places(shape: Shape, classes: Array) -> Array | None:
    """Where the targets' scores lie among all; None if some target is no class."""
    rows, width = shape
    if _largest_unsigned(classes) >= width:
        return None
    positions: Array = np.arange(0, rows * width, width)
    positions += classes
    return positions


def loss_of_all(scores: Array, classes: Array, reduction: int) -> tuple[Array, Array] | None:
    """The loss and the number of targets."""
    positions = places(scores.shape, classes)
    if positions is None:
        return None
    count = len(classes)
    loss = -np.add.reduce(scores.reshape(-1)[positions])
    return np.asarray(loss / count if reduction == MEAN else loss), np.array(count, scores.dtype)


def gradient_of_all(shape: Shape, classes: Array, share: Array, total: Array, reduction: int) -> Array | None:
    """Minus the share of a target at each target's score, 0 elsewhere."""
    positions = places(shape, classes)
    if positions is None:
        return None
    gradient = np.zeros(shape, share.dtype)
    gradient.reshape(-1)[positions] = -(share / total if reduction == MEAN else share)
    return gradient


plain_forward, plain_backward = plain_kernel("nll_loss_forward"), plain_kernel("nll_loss_backward")


@fast("nll_loss_forward", when=WHEN, benchmark="`cross_entropy`, 64x10", exact="bits")
def nll_loss_forward(
    keys: int, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:  # hot path: benchmarks/operators.py
    """The loss and the total weight."""
    if is_plain_batch(self, target, weight, reduction, ignore_index):
        found = quietly(loss_of_all, self.array(), target.array(), reduction)
        if found is not None:
            return wrap(found[0], self.dtype), wrap(found[1], self.dtype)
    return plain_forward(keys, self, target, weight, reduction, ignore_index)  # type: ignore[return-value]


@fast("nll_loss_backward", when=WHEN, benchmark="digits classifier, one epoch", exact="bits")
def nll_loss_backward(
    keys: int,
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:  # hot path: benchmarks/training.py
    """The gradient of the scores."""
    dtype = self.dtype
    if (
        is_plain_batch(self, target, weight, reduction, ignore_index)
        and grad_output._shape == () == total_weight._shape
        and grad_output.dtype is dtype is total_weight.dtype
    ):
        gradient = quietly(
            gradient_of_all, self._shape, target.array(), grad_output.array(), total_weight.array(), reduction
        )
        if gradient is not None:
            return wrap(gradient, dtype)
    return plain_backward(keys, grad_output, self, target, weight, reduction, ignore_index, total_weight)
