"""What do the operators of the family pooling compute?

The oracles go over one window after another. A window is a tuple of slices, one for each pooled dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import ceil, floor
from typing import Any

import numpy as np

from tests.agreement.samples import FLOATS, LONG, SAME, Row, call, index, row, t

Array = np.ndarray[Any, Any]
Ints = list[int]
Window = tuple[list[int], ...]  # the positions along each dimension


def outputs_of(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows there are along one dimension; the last one begins within the input or its left padding."""
    steps = (size + 2 * padding - dilation * (kernel - 1) - 1) / stride
    count = (ceil(steps) if ceil_mode else floor(steps)) + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


def sliding(
    sizes: tuple[int, ...], kernel: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> Iterator[tuple[tuple[int, ...], Window]]:
    """Each output's index and the positions that its window reads, which may lie in the padding."""
    stride = stride or kernel
    geometry = list(zip(sizes, kernel, stride, padding, dilation, strict=True))
    counts = [outputs_of(*one, ceil_mode) for one in geometry]
    for at in product(*map(range, counts)):
        yield (
            at,
            tuple(
                [i * step - pad + j * gap for j in range(length)]
                for i, (_, length, step, pad, gap) in zip(at, geometry, strict=True)
            ),
        )


def adaptive(sizes: tuple[int, ...], counts: Ints) -> Iterator[tuple[tuple[int, ...], Window]]:
    for at in product(*map(range, counts)):
        yield (
            at,
            tuple(
                list(range(floor(i * size / count), ceil((i + 1) * size / count)))
                for i, size, count in zip(at, sizes, counts, strict=True)
            ),
        )


def inside(window: Window, sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [place for place in product(*window) if all(0 <= i < size for i, size in zip(place, sizes, strict=True))]


def largest(x: Array, dims: int, windows: list[tuple[tuple[int, ...], Window]]) -> tuple[Array, Array]:
    """The maxima and their places in the plane."""
    sizes, lead = x.shape[-dims:], x.shape[:-dims]
    counts = tuple(max(at) + 1 for at in zip(*(at for at, _ in windows), strict=True))
    values, places = np.zeros((*lead, *counts)), np.zeros((*lead, *counts), np.int64)
    for plane in np.ndindex(*lead):
        for at, window in windows:
            best = max(inside(window, sizes), key=lambda place: x[(*plane, *place)])
            values[(*plane, *at)] = x[(*plane, *best)]
            places[(*plane, *at)] = np.ravel_multi_index(best, sizes)
    return values, places


def averages(
    x: Array, dims: int, windows: list[tuple[tuple[int, ...], Window]], divisor: Callable[[Window], float]
) -> Array:
    sizes = x.shape[-dims:]
    counts = tuple(max(at) + 1 for at in zip(*(at for at, _ in windows), strict=True))
    values = np.zeros((*x.shape[:-dims], *counts))
    for at, window in windows:
        total = sum(x[(..., *place)] for place in inside(window, sizes))
        values[(..., *at)] = total / divisor(window)
    return values


def max_pool(dims: int) -> Callable[..., tuple[Array, Array]]:
    def oracle(
        x: Array, kernel: Ints, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
    ) -> tuple[Array, Array]:
        padding, dilation = padding or [0] * dims, [1] * dims if dilation == 1 else dilation
        return largest(x, dims, list(sliding(x.shape[-dims:], kernel, stride, padding, dilation, ceil_mode)))

    return oracle


def max_pool_backward(dims: int) -> Callable[..., Array]:
    """Also of adaptive and fractional pooling: the last argument holds the places."""

    def oracle(grad: Array, x: Array, *rest: Any) -> Array:
        result = np.zeros_like(x)
        lead = x.shape[:-dims]
        flat, places = result.reshape(*lead, -1), rest[-1].reshape(*lead, -1)
        for plane in np.ndindex(*lead):
            for place, value in zip(places[plane], grad.reshape(*lead, -1)[plane], strict=True):
                flat[(*plane, place)] += value
        return result

    return oracle


def avg_pool(dims: int) -> Callable[..., Array]:
    def oracle(
        x: Array,
        kernel: Ints,
        stride: Any = (),
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor: int | None = None,
    ) -> Array:
        padding = padding or [0] * dims
        sizes = x.shape[-dims:]
        windows = list(sliding(sizes, kernel, stride, padding, [1] * dims, ceil_mode))

        def divided_by(window: Window) -> float:
            if divisor is not None:
                return divisor
            if not count_include_pad:
                return len(inside(window, sizes))
            # What lies beyond the padding, where ceil_mode reads it, does not count.
            return float(
                np.prod(
                    [sum(i < size + pad for i in line) for line, size, pad in zip(window, sizes, padding, strict=True)]
                )
            )

        return averages(x, dims, windows, divided_by)

    return oracle


def adaptive_max_pool(dims: int) -> Callable[..., tuple[Array, Array]]:
    return lambda x, counts: largest(x, dims, list(adaptive(x.shape[-dims:], counts)))


def adaptive_avg_pool(dims: int) -> Callable[..., Array]:
    def oracle(x: Array, counts: Ints) -> Array:
        return averages(x, dims, list(adaptive(x.shape[-dims:], counts)), lambda window: np.prod([*map(len, window)]))

    return oracle


def transposed(pool: Callable[..., Array]) -> Callable[..., Array]:
    """The gradient of an average, which is linear in its input: its matrix transposed, times the gradient."""

    def oracle(grad: Array, x: Array, *rest: Any) -> Array:
        rest = rest or (list(grad.shape[-(2 if pool is ADAPTIVE2 else 3) :]),)
        units = np.eye(x.size).reshape(x.size, *x.shape)
        return np.array([(pool(unit, *rest) * grad).sum() for unit in units]).reshape(x.shape)

    return oracle


ADAPTIVE2, ADAPTIVE3 = adaptive_avg_pool(2), adaptive_avg_pool(3)


def fractional(dims: int) -> Callable[..., tuple[Array, Array]]:
    """Each plane has its own windows, as far apart as its random numbers say."""

    def oracle(x: Array, kernel: Ints, counts: Ints, samples: Array) -> tuple[Array, Array]:
        sizes, (batch, channels) = x.shape[-dims:], x.shape[:2]
        results = [
            largest(x[n, c], dims, windows(sizes, kernel, counts, samples[n, c]))
            for n in range(batch)
            for c in range(channels)
        ]
        values, places = (np.stack(part).reshape(batch, channels, *counts) for part in zip(*results, strict=True))
        return values, places

    def windows(sizes: tuple[int, ...], kernel: Ints, counts: Ints, sample: Array) -> Any:
        order = sample[::-1] if dims == 2 else sample
        begins = []
        for size, length, count, number in zip(sizes, kernel, counts, order, strict=True):
            step = (size - length) / (count - 1) if count > 1 else 0.0
            begins.append([*(int((i + number) * step) - int(number * step) for i in range(count - 1)), size - length])
        return [
            (at, tuple([*range(b[i], b[i] + n)] for i, b, n in zip(at, begins, kernel, strict=True)))
            for at in product(*map(range, counts))
        ]

    return oracle


def max_unpool(dims: int) -> Callable[..., Array]:
    def oracle(x: Array, places: Array, sizes: Ints, *_: Any) -> Array:
        result = np.zeros((*x.shape[:-dims], *sizes))
        flat = result.reshape(*x.shape[:-dims], -1)
        for plane in np.ndindex(*x.shape[:-dims]):
            flat[(*plane, places[plane].reshape(-1))] = x[plane].reshape(-1)
        return result

    return oracle


def image(*shape: int) -> Any:
    """No element twice: which of two equal ones is the largest decides the gradient."""
    return t(*shape, distinct=True)


PLACES2, PLACES3 = index(1, 2, 2, 2, below=12), index(1, 1, 2, 2, 2, below=27)
RANDOM2, RANDOM3 = t(2, 2, 2, low=0, high=0.9, grad=False), t(1, 2, 3, low=0, high=0.9, grad=False)
PAIR = (SAME, LONG)
SINGLE = ("float32", "float64")


ROWS: tuple[Row, ...] = (
    row("max_pool1d", lambda *a, **k: max_pool(1)(*a, **k)[0], call(image(2, 3, 7), [3]),
        call(image(2, 8), [2], [1], [1], [3], True),
        cuda=False, dtypes=FLOATS),
    row("max_pool1d_with_indices", max_pool(1), call(image(2, 3, 7), [3]), call(image(2, 8), [2], [1], [1], [3], True),
        cuda=False, dtypes=FLOATS, result=PAIR),
    row("max_pool2d", lambda *a, **k: max_pool(2)(*a, **k)[0], call(image(2, 3, 5, 6), [2, 3]),
        call(image(2, 5, 6), [3, 2], [2, 1], [1, 1], [1, 2], True),
        cuda=False, dtypes=FLOATS),
    row("max_pool3d", lambda *a, **k: max_pool(3)(*a, **k)[0], call(image(1, 2, 4, 5, 3), [2, 2, 2]),
        call(image(2, 4, 4, 3), [2, 3, 1], [2, 1, 1], [1, 1, 0], [1, 1, 2], True),
        cuda=False, dtypes=FLOATS),
    row("max_pool2d_with_indices", max_pool(2), call(image(2, 3, 5, 6), [2, 3]),
        call(image(2, 5, 6), [3, 2], [2, 1], [1, 1], [1, 2], True), dtypes=(*FLOATS, "int64"), result=PAIR),
    row("max_pool2d_with_indices_backward", max_pool_backward(2),
        call(t(1, 2, 2, 2), t(1, 2, 3, 4), [2, 2], [1, 2], [0, 0], [1, 1], False, PLACES2), dtypes=FLOATS),
    row("max_pool3d_with_indices", max_pool(3), call(image(1, 2, 4, 5, 3), [2, 2, 2]),
        call(image(2, 4, 4, 3), [2, 3, 1], [2, 1, 1], [1, 1, 0], [1, 1, 2], True), dtypes=(*FLOATS, "int64"),
        result=PAIR),
    row("max_pool3d_with_indices_backward", max_pool_backward(3),
        call(t(1, 1, 2, 2, 2), t(1, 1, 3, 3, 3), [2] * 3, [1] * 3, [0] * 3, [1] * 3, False, PLACES3), dtypes=FLOATS),
    row("avg_pool1d", avg_pool(1), call(t(2, 3, 7), [3]), call(t(2, 8), [3], [2], [1], True, False),
        cuda=False, dtypes=FLOATS),
    row("avg_pool2d", avg_pool(2), call(t(2, 3, 5, 6), [2, 3]), call(t(2, 5, 6), [3, 2], [2, 2], [1, 1], True),
        call(t(2, 5, 6), [3, 2], [2, 1], [1, 1], True, False), call(t(1, 5, 6), [2, 2], [], [0, 0], False, True, 3),
        dtypes=FLOATS),
    row("avg_pool2d_backward", transposed(avg_pool(2)),
        call(t(1, 2, 3), t(1, 4, 5), [3, 2], [2, 2], [1, 1], False, True, None),
        call(t(1, 3, 3), t(1, 4, 5), [3, 2], [2, 2], [1, 1], True, False, None), dtypes=FLOATS),
    row("avg_pool3d", avg_pool(3), call(t(1, 2, 4, 5, 3), [2, 2, 2]),
        call(t(2, 4, 4, 3), [2, 3, 2], [2, 1, 2], [1, 1, 0], True, False), dtypes=SINGLE),
    row("avg_pool3d_backward", transposed(avg_pool(3)),
        call(t(1, 2, 2, 2), t(1, 3, 4, 3), [2, 2, 2], [1, 2, 1], [0, 0, 0], False, True, 5), dtypes=SINGLE),
    row("adaptive_avg_pool1d", adaptive_avg_pool(1), call(t(2, 3, 7), [3]), call(t(2, 4), [5]),
        cuda=False, dtypes=FLOATS),
    row("adaptive_avg_pool2d", adaptive_avg_pool(2), call(t(2, 5, 7), [3, 2]), call(t(1, 2, 4, 3), [1, 1]),
        cuda=False, dtypes=FLOATS),
    row("_adaptive_avg_pool2d", ADAPTIVE2, call(t(2, 5, 7), [3, 2]), call(t(1, 2, 4, 3), [4, 5]), dtypes=FLOATS),
    row("_adaptive_avg_pool2d_backward", transposed(ADAPTIVE2), call(t(2, 3, 2), t(2, 5, 4)), dtypes=FLOATS),
    row("adaptive_avg_pool3d", adaptive_avg_pool(3), call(t(2, 3, 4, 5), [2, 3, 2]),
        cuda=False, dtypes=FLOATS),
    row("_adaptive_avg_pool3d", ADAPTIVE3, call(t(2, 3, 4, 5), [2, 3, 2]), call(t(1, 2, 3, 2, 2), [1, 1, 3]),
        dtypes=FLOATS),
    row("_adaptive_avg_pool3d_backward", transposed(ADAPTIVE3), call(t(1, 2, 3, 2), t(1, 3, 4, 3)), dtypes=FLOATS),
    row("adaptive_max_pool1d", adaptive_max_pool(1), call(image(2, 3, 7), [3]), cuda=False, dtypes=FLOATS, result=PAIR),
    row("adaptive_max_pool2d", adaptive_max_pool(2), call(image(2, 5, 7), [3, 2]), call(image(1, 2, 4, 3), [4, 5]),
        dtypes=FLOATS, result=PAIR),
    row("adaptive_max_pool2d_backward", max_pool_backward(2), call(t(1, 2, 2, 2), t(1, 2, 3, 4), PLACES2),
        dtypes=FLOATS),
    row("adaptive_max_pool3d", adaptive_max_pool(3), call(image(2, 3, 4, 5), [2, 3, 2]), dtypes=FLOATS, result=PAIR),
    row("adaptive_max_pool3d_backward", max_pool_backward(3), call(t(1, 1, 2, 2, 2), t(1, 1, 3, 3, 3), PLACES3),
        dtypes=FLOATS),
    row("fractional_max_pool2d", fractional(2), call(image(2, 2, 6, 7), [2, 3], [3, 4], RANDOM2),
        dtypes=SINGLE, result=PAIR),
    row("fractional_max_pool2d_backward", max_pool_backward(2),
        call(t(1, 2, 2, 2), t(1, 2, 3, 4), [2, 2], [2, 2], PLACES2), dtypes=SINGLE),
    row("fractional_max_pool3d", fractional(3), call(image(1, 2, 4, 5, 4), [2, 2, 2], [2, 3, 2], RANDOM3),
        dtypes=SINGLE, result=PAIR),
    row("fractional_max_pool3d_backward", max_pool_backward(3),
        call(t(1, 1, 2, 2, 2), t(1, 1, 3, 3, 3), [2] * 3, [2] * 3, PLACES3), dtypes=SINGLE),
    row("max_unpool2d", max_unpool(2), call(t(2, 2, 1, 1), index(2, 2, 1, 1, below=12), [3, 4]), dtypes=FLOATS),
    row("max_unpool3d", max_unpool(3),
        call(t(2, 1, 1, 1), index(2, 1, 1, 1, below=24), [2, 3, 4], [1, 1, 1], [0, 0, 0]), dtypes=FLOATS),
)  # fmt: skip
