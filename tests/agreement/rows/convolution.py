"""What do the operators of the family convolution compute?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.agreement.samples import FLOATS, SAME, Row, call, row, t

Array = np.ndarray[Any, Any]


def convolution(
    x: Array,
    weight: Array,
    bias: Array | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Array:
    """One place, element of the kernel and pair of channels after the other."""
    kernel, dims = weight.shape[2:], weight.ndim - 2
    if transposed:
        sizes = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1 + o
            for n, s, p, d, k, o in zip(x.shape[2:], stride, padding, dilation, kernel, output_padding, strict=True)
        ]
        channels = weight.shape[1] * groups
    else:
        sizes = [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, s, p, d, k in zip(x.shape[2:], stride, padding, dilation, kernel, strict=True)
        ]
        channels = len(weight)
    result = np.zeros((len(x), channels, *sizes), x.dtype)
    small, large = (x, result) if transposed else (result, x)
    for place in np.ndindex(small.shape[2:]):
        for element in np.ndindex(kernel):
            at = [place[i] * stride[i] - padding[i] + element[i] * dilation[i] for i in range(dims)]
            if any(not 0 <= a < n for a, n in zip(at, large.shape[2:], strict=True)):
                continue
            for first, second in np.ndindex(weight.shape[:2]):
                group = first // (len(weight) // groups)
                other, factor = group * weight.shape[1] + second, weight[(first, second, *element)]
                if transposed:
                    result[(slice(None), other, *at)] += x[(slice(None), first, *place)] * factor
                else:
                    result[(slice(None), first, *place)] += x[(slice(None), other, *at)] * factor
    return result if bias is None else result + bias.reshape(-1, *[1] * dims)


def conv(dims: int) -> Callable[..., Array]:
    """conv1d, conv2d or conv3d."""

    def function(
        x: Array, w: Array, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Array:
        stride, dilation = ([n] * dims if isinstance(n, int) else n for n in (stride, dilation))
        if padding == "same":
            total = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
            x = np.pad(x, [(0, 0)] * (x.ndim - dims) + [(n // 2, n - n // 2) for n in total])
        padding = [padding] * dims if isinstance(padding, int) else [0] * dims if isinstance(padding, str) else padding
        batch = x if x.ndim == dims + 2 else x[None]
        result = convolution(batch, w, bias, stride, padding, dilation, False, [0] * dims, groups)
        return result if x.ndim == dims + 2 else result[0]

    return function


def conv_transpose(dims: int) -> Callable[..., Array]:
    """conv_transpose1d, conv_transpose2d or conv_transpose3d."""

    def function(
        x: Array,
        w: Array,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Array:
        stride, padding, more, dilation = (
            [n] * dims if isinstance(n, int) else n for n in (stride, padding, output_padding, dilation)
        )
        batch = x if x.ndim == dims + 2 else x[None]
        result = convolution(batch, w, bias, stride, padding, dilation, True, more, groups)
        return result if x.ndim == dims + 2 else result[0]

    return function


def convolution_backward(grad: Array, x: Array, w: Array, sizes: Any, *rest: Any) -> tuple[Array, ...]:
    """The gradients: a convolution is linear, so that the products with each unit vector are those."""
    *how, mask = rest
    assert all(mask)
    to_x, to_w = np.zeros_like(x), np.zeros_like(w)
    for gradient, other in ((to_x, False), (to_w, True)):
        for i in np.ndindex(gradient.shape):
            unit = np.zeros_like(gradient)
            unit[i] = 1
            gradient[i] = (grad * convolution(*((x, unit) if other else (unit, w)), None, *how)).sum()
    return to_x, to_w, grad.sum((0, *range(2, grad.ndim)))


def double_backward(to_x: Any, to_w: Any, to_b: Any, grad: Array, w: Array, x: Array, *rest: Any) -> tuple[Array, ...]:
    *how, _mask = rest
    to_grad = convolution(to_x, w, None, *how) + convolution(x, to_w, None, *how) + to_b.reshape(-1, 1, 1)
    all_three = [True] * 3
    return (
        to_grad,
        convolution_backward(grad, x, to_w, None, *how, all_three)[0],
        convolution_backward(grad, to_x, w, None, *how, all_three)[1],
    )


def conv_tbc(x: Array, w: Array, bias: Array, pad: int = 0) -> Array:
    result = conv(1)(x.transpose(1, 2, 0), w.transpose(2, 1, 0), bias, 1, pad)
    return result.transpose(2, 0, 1)


def conv_tbc_backward(grad: Array, x: Array, w: Array, bias: Array, pad: int) -> tuple[Array, ...]:
    how = ([1], [pad], [1], False, [0], 1, [True] * 3)
    turned = (grad.transpose(1, 2, 0), x.transpose(1, 2, 0), w.transpose(2, 1, 0))
    to_x, to_w, to_b = convolution_backward(*turned, None, *how)
    return to_x.transpose(2, 0, 1), to_w.transpose(2, 1, 0), to_b


def im2col(x: Array, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Array:
    """The convolution with kernels of which each reads one element."""
    count = x.shape[-3] * int(np.prod(kernel))
    units = np.eye(count).reshape(count, x.shape[-3], *kernel)
    result = conv(2)(x.astype(np.float64), units, None, stride, padding, dilation)
    return result.reshape(*x.shape[:-3], count, -1).astype(x.dtype)


def col2im(x: Array, sizes: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Array:
    """Each element of the image is the sum of the columns in which im2col puts it."""
    channels = x.shape[-2] // int(np.prod(kernel))
    result = np.zeros((*x.shape[:-2], channels, *sizes), x.dtype)
    for i in np.ndindex(channels, *sizes):
        unit = np.zeros((channels, *sizes))
        unit[i] = 1
        read = im2col(unit, kernel, dilation, padding, stride)
        result[(..., *i)] = (x * read).sum((-2, -1))
    return result


NUMBERS = (*FLOATS, "int64")
PLAIN = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
STRIDED = ([2, 1], [1, 2], [1, 2], False, [0, 0], 2)
TRANSPOSED = ([2, 1], [1, 0], [1, 2], True, [1, 1], 2)
ALL_THREE = [True, True, True]


COMPOSED: Any = {"dtypes": NUMBERS, "cuda": False, "tolerance": 4}


# Where a row is not held to PyTorch, its composite there is made of other operators, with other strides and nodes.
ROWS: tuple[Row, ...] = (
    row("convolution", convolution, call(t(2, 2, 4, 3), t(3, 2, 2, 2), t(3), *PLAIN),
        call(t(2, 4, 4, 3), t(2, 2, 3, 2), None, *STRIDED), call(t(2, 4, 3, 2), t(4, 1, 2, 2), t(2), *TRANSPOSED),
        call(t(0, 2, 4, 3), t(3, 2, 2, 2), t(3), *PLAIN), dtypes=NUMBERS, tolerance=4),
    row("convolution_backward", convolution_backward,
        call(t(2, 3, 3, 2), t(2, 2, 4, 3), t(3, 2, 2, 2), [3], *PLAIN, ALL_THREE),
        call(t(2, 2, 2, 5), t(2, 4, 4, 3), t(2, 2, 3, 2), [2], *STRIDED, ALL_THREE),
        call(t(1, 2, 5, 5), t(1, 4, 3, 2), t(4, 1, 2, 2), [2], *TRANSPOSED, ALL_THREE),
        dtypes=FLOATS, result=(SAME, SAME, SAME), tolerance=8),
    row("_convolution", lambda *a: convolution(*a[:9]),
        call(t(1, 2, 4, 3), t(3, 2, 2, 2), t(3), *PLAIN, False, False, True, True), **COMPOSED),
    row("_convolution.deprecated", lambda *a: convolution(*a[:9]),
        call(t(1, 2, 4, 3), t(3, 2, 2, 2), t(3), *PLAIN, False, False, True), **COMPOSED),
    row("_convolution_mode", lambda x, w, b, s, p, d, g: conv(2)(x, w, b, s, p, d, g),
        call(t(1, 2, 4, 3), t(3, 2, 3, 3), t(3), [1, 1], "same", [1, 1], 1),
        call(t(1, 2, 4, 3), t(3, 2, 2, 3), None, [2, 1], "valid", [1, 1], 1), **COMPOSED),
    row("_convolution_double_backward", double_backward,
        call(t(1, 2, 4, 3), t(3, 2, 2, 2), t(3), t(1, 3, 3, 2), t(3, 2, 2, 2), t(1, 2, 4, 3), *PLAIN, ALL_THREE),
        dtypes=("float32", "float64"), result=(SAME, SAME, SAME), cuda=False, tolerance=8, in_torch=False),
    row("conv1d", conv(1), call(t(2, 2, 5), t(3, 2, 2), t(3), [2], [1]),
        call(t(2, 5), t(2, 1, 3), None, [1], [0], [2], 2),
        **COMPOSED),
    row("conv2d", conv(2), call(t(2, 2, 4, 3), t(3, 2, 2, 2), t(3), [2, 1], [1, 0]), call(t(2, 4, 3), t(3, 2, 2, 2)),
        **COMPOSED),
    row("conv3d", conv(3), call(t(1, 2, 3, 3, 2), t(2, 2, 2, 2, 2), t(2), [1, 1, 1], [0, 1, 0]),
        call(t(2, 3, 2, 2), t(2, 1, 2, 1, 1), None, [2, 2, 2], [0, 0, 0], [1, 1, 1], 2), **COMPOSED),
    row("conv1d.padding", conv(1), call(t(2, 2, 5), t(3, 2, 3), t(3), padding="same"), **COMPOSED),
    row("conv2d.padding", conv(2), call(t(2, 2, 4, 3), t(3, 2, 1, 3), t(3), padding="same"), **COMPOSED),
    row("conv3d.padding", conv(3), call(t(2, 3, 2, 2), t(2, 2, 1, 2, 1), padding="valid"), **COMPOSED),
    row("conv_transpose1d", conv_transpose(1), call(t(2, 2, 3), t(2, 3, 2), t(3), [2], [1], [1]),
        call(t(4, 3), t(4, 1, 2), None, [1], [0], [0], 2, [3]), **COMPOSED),
    row("conv_transpose2d.input", conv_transpose(2), call(t(2, 2, 3, 2), t(2, 3, 2, 2), t(3), [2, 1], [1, 0]),
        **COMPOSED),
    row("conv_transpose3d.input", conv_transpose(3), call(t(2, 2, 2, 2), t(2, 1, 2, 1, 2), t(1), [2, 2, 2]),
        **COMPOSED),
    row("conv_tbc", conv_tbc, call(t(5, 2, 2), t(3, 2, 3), t(3), 1), call(t(3, 2, 2), t(3, 2, 3), t(3)),
        dtypes=NUMBERS, tolerance=4),
    row("conv_tbc_backward", conv_tbc_backward, call(t(5, 2, 3), t(5, 2, 2), t(3, 2, 3), t(3), 1), dtypes=FLOATS,
        result=(SAME, SAME, SAME), cuda=False, tolerance=8, in_torch=False),
    row("im2col", im2col, call(t(2, 2, 4, 3), [2, 2], [1, 1], [0, 1], [1, 2]),
        call(t(2, 4, 3), [2, 1], [2, 1], [1, 0], [1, 1]), dtypes=(*FLOATS, "bool")),
    row("col2im", col2im, call(t(2, 8, 12), [4, 3], [2, 2], [1, 1], [0, 1], [1, 1]),
        call(t(4, 5), [6, 1], [2, 1], [1, 1], [0, 0], [1, 1]), dtypes=FLOATS, tolerance=4),
)  # fmt: skip
