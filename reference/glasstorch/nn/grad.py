"""How is the gradient of a convolution computed without a graph?

Mirrors: torch/nn/grad.py
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch.nn.functions.convolution import Sizes
from glasstorch.nn.functions.tuples import for_each
from glasstorch.operators.generated import functions as operators

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d's input, of the sizes `input_size`, given that of its result."""
    return _input(1, input_size, weight, grad_output, (stride, padding, dilation), groups)


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv1d's weight, of the sizes `weight_size`, given that of its result."""
    return _weight(1, input, weight_size, grad_output, (stride, padding, dilation), groups)


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv2d's input, of the sizes `input_size`, given that of its result."""
    return _input(2, input_size, weight, grad_output, (stride, padding, dilation), groups)


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv2d's weight, of the sizes `weight_size`, given that of its result."""
    return _weight(2, input, weight_size, grad_output, (stride, padding, dilation), groups)


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv3d's input, of the sizes `input_size`, given that of its result."""
    return _input(3, input_size, weight, grad_output, (stride, padding, dilation), groups)


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of conv3d's weight, of the sizes `weight_size`, given that of its result."""
    return _weight(3, input, weight_size, grad_output, (stride, padding, dilation), groups)


# The input's gradient depends on the input's sizes alone, the weight's on the weight's: one element stands for all.


def _input(
    dims: int, sizes: Sequence[int], weight: Tensor, grad: Tensor, window: tuple[Sizes, Sizes, Sizes], groups: int
) -> Tensor:
    return _backward(dims, grad, grad.new_empty(1).expand(sizes), weight, window, groups, 0)


def _weight(
    dims: int, input: Tensor, sizes: Sequence[int], grad: Tensor, window: tuple[Sizes, Sizes, Sizes], groups: int
) -> Tensor:
    return _backward(dims, grad, input, grad.new_empty(1).expand(sizes), window, groups, 1)


def _backward(
    dims: int,
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    window: tuple[Sizes, Sizes, Sizes],
    groups: int,
    wanted: int,
) -> Tensor:
    stride, padding, dilation = (for_each(dims, numbers) for numbers in window)
    mask = [which == wanted for which in range(3)]
    gradients = operators.convolution_backward(
        grad, input, weight, None, stride, padding, dilation, False, [0], groups, mask
    )
    gradient: Tensor = gradients[wanted]
    return gradient
