"""How are losses and their gradients computed on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/Loss.cu, NLLLoss2d.cu, aten/src/ATen/native/Loss.cpp (mse_loss_out)
Differs: one kernel serves nll_loss and nll_loss2d; see loss.cu.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, empty
from glasstorch.core.dtype import FLOATING, dtype, int64
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.devices.launch import grid_for, launch
from glasstorch.devices.modules import kernel
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cuda.copies import contiguous
from glasstorch.kernels.cuda.lines import BLOCKS_PER_MULTIPROCESSOR, THREADS, WARP, address, multiprocessors, power_of_2
from glasstorch.kernels.cuda.pointwise.ternary import mse_gradient, squared_difference
from glasstorch.kernels.cuda.reductions import add, computed_in, converted, delivered
from glasstorch.kernels.cuda.tensors import COMPUTED, CUDA_TYPE, common_device, output
from glasstorch.kernels.structured import Out, Outs, add_structured, shape_function, structured
from glasstorch.operators.shapes.loss.pointwise import mse_loss as mse_loss_shape
from glasstorch.operators.shapes.loss.pointwise import mse_loss_backward as mse_loss_backward_shape
from glasstorch.operators.shapes.loss.shared import MEAN, NONE
from glasstorch.operators.shapes.result import Result

CUDA = KernelTable("CUDA")

FILE = "loss.cu"
EACH, PARTIALS, TOTAL, GRADIENT = "nll_loss_each", "nll_loss_partials", "nll_loss_total", "nll_loss_gradient"


def options(element: dtype) -> tuple[str, ...]:
    """The compiler options for loss.cu."""
    return (f"ELEMENT={CUDA_TYPE[element]}",)


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines."""
    for element in COMPUTED:
        if element.category == FLOATING:
            for expression in (EACH, PARTIALS, TOTAL, GRADIENT):
                yield FILE, expression, options(element)


# nll_loss -------------------------------------------------------------------------------------------------------


def for_each(expression: str, count: int, element: dtype, arguments: tuple[Any, ...]) -> None:
    """Launch a kernel with a thread for each of `count` items."""
    if count:
        launch(kernel(FILE, expression, options(element)), grid_for(count, THREADS), THREADS, arguments)


def read(self: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int) -> tuple[Any, ...]:
    """The common arguments of loss.cu's kernels: targets, weights, then the sizes (classes, inner) and ignore_index.

    All are row-major. `inner` is the number of positions of a sample, and so the stride between a position's scores.
    """
    shape = self._shape
    classes, inner = (shape[0], 1) if len(shape) == 1 else (shape[1], math.prod(shape[2:]))
    weights = None if weight is None else contiguous(weight)
    return contiguous(converted(target, int64)), weights, *map(np.int64, (classes, inner, ignore_index))


def nll_loss(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    results: tuple[Result, Result],
) -> tuple[Tensor, Tensor]:
    """The loss and the total weight."""
    loss, total_weight = (output(result, self.device) for result in results)
    positions = target.numel()
    scores = contiguous(self)
    targets, weights, *sizes = read(self, target, weight, ignore_index)
    given, numbers = (scores, targets, address(weights)), (np.int64(positions), *sizes)
    if reduction == NONE and len(self._shape) > 1:
        for_each(EACH, positions, self.dtype, (*given, loss, *numbers))
        return loss, total_weight.zero_()
    threads = max(min(power_of_2(positions), THREADS), WARP)
    blocks = min(grid_for(positions, threads), BLOCKS_PER_MULTIPROCESSOR * multiprocessors(self.device))
    partials = empty((blocks, 2), computed_in(self.dtype), self.device)
    defines = options(self.dtype)
    launch(kernel(FILE, PARTIALS, defines), blocks, threads, (*given, partials, *numbers))
    threads = max(min(power_of_2(blocks), THREADS), WARP)
    total = (partials, np.int32(blocks), loss, total_weight, np.bool_(reduction == MEAN))
    launch(kernel(FILE, TOTAL, defines), 1, threads, total)
    return loss, total_weight


def nll_loss_gradient(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
    result: Result,
) -> Tensor:
    """Minus the weight at each counted target, 0 elsewhere."""
    gradient = output(result, self.device)
    targets, weights, *sizes = read(self, target, weight, ignore_index)
    each = reduction == NONE and len(self._shape) > 1
    divisor = total_weight if reduction == MEAN else None
    given = (contiguous(grad_output), targets, address(weights), address(divisor))
    scores = self.numel()
    for_each(GRADIENT, scores, self.dtype, (*given, gradient, np.int64(scores), *sizes, np.bool_(each)))
    return gradient


def register_nll_loss(name: str) -> None:
    """Register the two kernels of nll_loss, or of nll_loss2d."""
    shape, shape_backward = shape_function(f"{name}_forward"), shape_function(f"{name}_backward")

    def forward(
        keys: int,
        self: Tensor,
        target: Tensor,
        weight: Tensor | None,
        reduction: int,
        ignore_index: int,
        out: Outs = None,
    ) -> tuple[Tensor, Tensor]:
        results = shape(self, target, weight, reduction, ignore_index)
        common_device(self, target, weight, numbers=False)
        loss, weights = nll_loss(self, target, weight, reduction, ignore_index, results)
        to_loss, to_weight = out or (None, None)
        return delivered(loss, to_loss), delivered(weights, to_weight)

    def backward(
        keys: int,
        grad_output: Tensor,
        self: Tensor,
        target: Tensor,
        weight: Tensor | None,
        reduction: int,
        ignore_index: int,
        total_weight: Tensor,
        out: Out = None,
    ) -> Tensor:
        arguments = grad_output, self, target, weight, reduction, ignore_index, total_weight
        result = shape_backward(*arguments)
        common_device(grad_output, self, target, weight, total_weight, numbers=False)
        return delivered(nll_loss_gradient(*arguments, result), out)

    add_structured(CUDA, f"{name}_forward", forward)
    add_structured(CUDA, f"{name}_backward", backward)


# mse_loss -------------------------------------------------------------------------------------------------------


@structured(CUDA, "mse_loss")
def mse_loss(keys: int, self: Tensor, target: Tensor, reduction: int, out: Tensor | None = None) -> Tensor:
    """The squared differences, their mean or their sum; half precision is rounded before it is added, as in PyTorch."""
    on = common_device(self, target)
    result = mse_loss_shape(self, target, reduction)
    squares = squared_difference(self, target, output(mse_loss_shape(self, target, NONE), on))
    if reduction == NONE:
        return delivered(squares, out)
    return add(squares, None, False, result, squares.numel() if reduction == MEAN else 1, out)


@structured(CUDA, "mse_loss_backward")
def mse_loss_backward(
    keys: int, grad_output: Tensor, self: Tensor, target: Tensor, reduction: int, out: Tensor | None = None
) -> Tensor:
    """Twice the difference times the gradient, divided by the number of elements for the mean."""
    on = common_device(grad_output, self, target)
    gradient = output(mse_loss_backward_shape(grad_output, self, target, reduction), on)
    count = math.prod(broadcast_shapes(self._shape, target._shape)) if reduction == MEAN else 1
    return delivered(mse_gradient(self, target, grad_output, 2 / max(count, 1), gradient), out)


register_nll_loss("nll_loss")
register_nll_loss("nll_loss2d")
