"""Which kernels do the operators of the family convolution have on the CPU?

Mirrors: aten/src/ATen/native/Convolution.cpp, ConvolutionTBC.cpp, Im2Col.cpp, Col2Im.cpp
Differs: half precision is computed in float32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasstorch._tensor import Tensor, empty_strided
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.convolution.problem import problem_of
from glasstorch.kernels.cpu.convolution.products import (
    backward_input,
    backward_weight,
    forward,
    put_together,
    windows,
)
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, finish, structured
from glasstorch.operators.shapes import convolution as shapes
from glasstorch.operators.shapes.convolution import Window
from glasstorch.operators.shapes.result import Result

CPU = KernelTable("CPU")


@structured(CPU, "convolution")
def convolution(
    keys: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    out: Out = None,
) -> Tensor:
    """Weighted sums of what a sliding kernel reads, or transposed: the gradient of one's input."""
    result = shapes.convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    window = shapes.window_of(weight, stride, padding, dilation, groups)

    def computed() -> Array:
        x, w = widened(input.array()), widened(weight.array())
        if not x.shape[1]:
            return np.zeros(result.shape, x.dtype)
        shape = result.shape[2:]
        if transposed:
            y = backward_input.run(x, w, problem_of(len(x), w, window, groups, shape, x.shape[2:]))
        else:
            y = forward.run(x, w, problem_of(len(x), w, window, groups, x.shape[2:], shape))
        if bias is not None:
            y += widened(bias.array()).reshape(-1, *(1,) * len(window.kernel))
        return y

    return laid_out(quietly(computed), result, out)


@structured(CPU, "convolution_backward")
def convolution_backward(
    keys: int,
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, ...]:
    """The gradients of input, weight and bias; None for one that the mask leaves out."""
    how = (stride, padding, dilation, transposed, output_padding, groups)
    results = shapes.convolution_backward(grad_output, input, weight, bias_sizes, *how, output_mask)
    window = shapes.window_of(weight, stride, padding, dilation, groups)

    if not input._shape[1]:
        return tuple(result and laid_out(np.zeros(result.shape), result) for result in results)
    grad, x, w = (widened(tensor.array()) for tensor in (grad_output, input, weight))
    # Transposed, the kernel slides over the result.
    larger, smaller = (grad, x) if transposed else (x, grad)
    problem = problem_of(len(x), w, window, groups, larger.shape[2:], smaller.shape[2:])

    def to_input() -> Array:
        return (forward if transposed else backward_input).run(grad, conjugated(w), problem)

    def to_weight() -> Array:
        return backward_weight.run(*((grad, conjugated(x)) if transposed else (conjugated(x), grad)), problem)

    def to_bias() -> Array:
        images = np.add.reduce(grad, 0)  # their sum first: NumPy adds whole images faster than many short runs
        return np.add.reduce(images, tuple(range(1, images.ndim)))  # type: ignore[no-any-return]

    computed = (to_input, to_weight, to_bias)
    return tuple(
        None if result is None else laid_out(quietly(compute), result)
        for compute, result in zip(computed, results, strict=True)
    )


def conjugated(array: Array) -> Array:
    """The complex conjugates; real numbers are no copy."""
    return np.conjugate(array) if array.dtype.kind == "c" else array


def laid_out(array: Array, result: Result, out: Out = None) -> Tensor:
    """A computed array as a tensor with the strides that the shape function says, or written into `out`."""
    if out is None and result.strides is not None:
        out = empty_strided(result.shape, result.strides, result.dtype)
    return finish(array, result.dtype, out)


@structured(CPU, "conv_tbc")
def conv_tbc(keys: int, self: Tensor, weight: Tensor, bias: Tensor, pad: int, out: Out = None) -> Tensor:
    """A convolution of (time, batch, channels), seen as (batch, channels, time)."""
    result = shapes.conv_tbc(self, weight, bias, pad)
    width = weight._shape[0]

    def computed() -> Array:
        x, w = widened(self.array()).transpose(1, 2, 0), widened(weight.array()).transpose(2, 1, 0)
        problem = problem_of(len(x), w, Window((width,), (1,), (pad,), (1,)), 1, x.shape[2:], result.shape[:1])
        y = forward.run(x, w, problem)
        return y.transpose(2, 0, 1) + widened(bias.array())

    return finish(quietly(computed), result.dtype, out)


@structured(CPU, "im2col")
def im2col(
    keys: int,
    self: Tensor,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
    out: Out = None,
) -> Tensor:
    """What a sliding kernel reads, as columns."""
    result = shapes.im2col(self, kernel_size, dilation, padding, stride)
    window = shapes.pair_window(kernel_size, dilation, padding, stride)
    images = self.array() if len(self._shape) == 4 else self.array()[None]
    return finish(windows(images, window, window.places(self._shape[-2:])).reshape(result.shape), result.dtype, out)


@structured(CPU, "col2im")
def col2im(
    keys: int,
    self: Tensor,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
    out: Out = None,
) -> Tensor:
    """Columns, added up where a sliding kernel reads them."""
    result = shapes.col2im(self, output_size, kernel_size, dilation, padding, stride)
    window = shapes.pair_window(kernel_size, dilation, padding, stride)
    sizes, channels = result.shape[-2:], result.shape[-3]
    batch = result.shape[0] if len(result.shape) == 4 else 1

    def computed() -> Array:
        read = widened(self.array()).reshape(batch, channels, *window.kernel, *window.places(sizes))
        return put_together(read, sizes, window).reshape(result.shape)

    return finish(quietly(computed), result.dtype, out)
