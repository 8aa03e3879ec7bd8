"""How are convolutions, their gradients, im2col and col2im computed on the CPU?

See Note [Three products].

Mirrors: aten/src/ATen/native/ConvolutionMM2d.cpp, NaiveConvolutionTranspose2d.cpp, slow_conv_dilated2d.cpp,
    ConvolutionTBC.cpp, Im2Col.cpp, Col2Im.cpp
Differs: one kernel serves any number of dimensions, with groups and dilation. Half precision is computed in float32 and
    rounded once.

# Note [Three products]
At each of its places the kernel reads a window of the input. With the windows as columns of a matrix, a convolution is
`weight @ columns`, the gradient of its weight `grad @ columns.T`, and the gradient of its input
`weight.T @ grad`, added up where the windows were read. A transposed convolution is the gradient of the input of a
convolution, so that these three also compute it and its gradients, with the roles of input and result exchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from glasstorch._tensor import Tensor, empty_strided
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.halves import widened
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, finish, structured
from glasstorch.operators.shapes import convolution as shapes
from glasstorch.operators.shapes.convolution import Window
from glasstorch.operators.shapes.result import Result

CPU = KernelTable("CPU")

# Windows --------------------------------------------------------------------------------------------------------


def windows(x: Array, window: Window, places: Sequence[int]) -> Array:
    """What a sliding kernel reads: (N, C, *sizes) gives (N, C, *kernel, *places), a view of the padded input."""
    borders = [(0, 0), (0, 0), *((zeros, zeros) for zeros in window.padding)]
    padded = np.pad(x, borders) if any(window.padding) else x
    n, c, *steps = padded.strides
    between = [step * d for step, d in zip(steps, window.dilation, strict=True)]
    along = [step * s for step, s in zip(steps, window.stride, strict=True)]
    shape = (*x.shape[:2], *window.kernel, *places)
    return np.lib.stride_tricks.as_strided(padded, shape, (n, c, *between, *along), writeable=False)


def put_together(read: Array, sizes: Sequence[int], window: Window) -> Array:
    """What windows hold, added up where they were read: (N, C, *kernel, *places) gives (N, C, *sizes)."""
    places = read.shape[2 + len(sizes) :]
    padded = [size + 2 * zeros for size, zeros in zip(sizes, window.padding, strict=True)]
    total = np.zeros((*read.shape[:2], *padded), read.dtype)
    for element in np.ndindex(window.kernel):
        starts = [at * d for at, d in zip(element, window.dilation, strict=True)]
        ends = [first + (n - 1) * s + 1 for first, n, s in zip(starts, places, window.stride, strict=True)]
        total[:, :, *map(slice, starts, ends, window.stride)] += read[:, :, *element]
    return total[:, :, *(slice(zeros, zeros + size) for zeros, size in zip(window.padding, sizes, strict=True))]


# Note [Three products] ------------------------------------------------------------------------------------------


@slot
def forward(x: Array, weight: Array, window: Window, groups: int, places: Shape) -> Array:
    """(N, C, *sizes) and (O, C / groups, *kernel) give (N, O, *places)."""
    batch, rows, inner, count = len(x), len(weight) // groups, prod(weight.shape[1:]), prod(places)
    columns = windows(x, window, places).reshape(batch, groups, inner, count)
    return np.matmul(weight.reshape(groups, rows, inner), columns).reshape(batch, groups * rows, *places)  # type: ignore[no-any-return]


@slot
def backward_input(y: Array, weight: Array, window: Window, groups: int, sizes: Shape) -> Array:
    """(N, O, *places) and (O, C / groups, *kernel) give (N, C, *sizes)."""
    batch, _, *places = y.shape
    rows, inner, count = len(weight) // groups, prod(weight.shape[1:]), prod(places)
    transposed = weight.reshape(groups, rows, inner).swapaxes(1, 2)
    read = np.matmul(transposed, y.reshape(batch, groups, rows, count))
    return put_together(read.reshape(batch, groups * weight.shape[1], *window.kernel, *places), sizes, window)


@slot
def backward_weight(x: Array, y: Array, window: Window, groups: int) -> Array:
    """(N, C, *sizes) and (N, O, *places) give (O, C / groups, *kernel)."""
    batch, made, *places = y.shape
    rows, channels, count = made // groups, x.shape[1] // groups, prod(places)
    inner = channels * prod(window.kernel)
    columns = windows(x, window, places).reshape(batch, groups, inner, count).transpose(1, 0, 3, 2)
    values = y.reshape(batch, groups, rows, count).transpose(1, 2, 0, 3)
    product = np.matmul(
        values.reshape(groups, rows, batch * count), columns.reshape(groups, batch * count, inner)
    )  # sums over the batch too
    return product.reshape(made, channels, *window.kernel)  # type: ignore[no-any-return]


# Kernels --------------------------------------------------------------------------------------------------------


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
        product = backward_input if transposed else forward
        y = product.run(x, w, window, groups, result.shape[2:])
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

    def to_input() -> Array:
        w = np.conjugate(widened(weight.array()))
        product = forward if transposed else backward_input
        return product.run(grad, w, window, groups, input._shape[2:])

    def to_weight() -> Array:
        x: Array = np.conjugate(widened(input.array()))
        # Transposed, the kernel slides over the result.
        return backward_weight.run(*((grad, x) if transposed else (x, grad)), window, groups)

    def to_bias() -> Array:
        return np.add.reduce(grad, (0, *range(2, grad.ndim)))  # type: ignore[no-any-return]

    if not input._shape[1]:
        return tuple(result and laid_out(np.zeros(result.shape), result) for result in results)
    grad = widened(grad_output.array())
    computed = (to_input, to_weight, to_bias)
    return tuple(
        None if result is None else laid_out(quietly(compute), result)
        for compute, result in zip(computed, results, strict=True)
    )


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
        y = forward.run(x, w, Window((width,), (1,), (pad,), (1,)), 1, result.shape[:1])
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
