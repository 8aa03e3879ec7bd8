"""How are a convolution and its two gradients computed as products of matrices?

Mirrors: aten/src/ATen/native/ConvolutionMM2d.cpp, NaiveConvolutionTranspose2d.cpp, slow_conv_dilated2d.cpp
Differs: one function serves any number of dimensions, with groups and dilation.

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

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.operators.shapes.convolution import Window

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
def forward(x: Array, weight: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (O, C / groups, *kernel) give (N, O, *places)."""
    batch, groups, places = problem.batch, problem.groups, problem.places
    columns = windows(x, problem.window, places).reshape(batch, groups, problem.inner, prod(places))
    product = np.matmul(weight.reshape(groups, problem.made, problem.inner), columns)
    return product.reshape(batch, groups * problem.made, *places)  # type: ignore[no-any-return]


@slot
def backward_input(y: Array, weight: Array, problem: Problem) -> Array:
    """(N, O, *places) and (O, C / groups, *kernel) give (N, C, *sizes)."""
    batch, groups, places = problem.batch, problem.groups, problem.places
    transposed = weight.reshape(groups, problem.made, problem.inner).swapaxes(1, 2)
    read = np.matmul(transposed, y.reshape(batch, groups, problem.made, prod(places)))
    read = read.reshape(batch, groups * problem.channels, *problem.window.kernel, *places)
    return put_together(read, problem.sizes, problem.window)


@slot
def backward_weight(x: Array, y: Array, problem: Problem) -> Array:
    """(N, C, *sizes) and (N, O, *places) give (O, C / groups, *kernel)."""
    batch, groups, made, inner, count = problem.batch, problem.groups, problem.made, problem.inner, prod(problem.places)
    columns = windows(x, problem.window, problem.places).reshape(batch, groups, inner, count).transpose(1, 0, 3, 2)
    values = y.reshape(batch, groups, made, count).transpose(1, 2, 0, 3)
    product = np.matmul(
        values.reshape(groups, made, batch * count), columns.reshape(groups, batch * count, inner)
    )  # sums over the batch too
    return product.reshape(groups * made, problem.channels, *problem.window.kernel)  # type: ignore[no-any-return]
