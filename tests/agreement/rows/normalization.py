"""What do the operators of the family normalization compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.samples import FLOATS, SAME, Row, T, always, call, row, t

Array = np.ndarray[Any, Any]
EPS = 1e-5
MASK = [True, True, True]


def moments(x: Array, over: tuple[int, ...], eps: float) -> tuple[Array, Array]:
    """The mean, and one over the deviation."""
    return x.mean(over, keepdims=True), 1 / np.sqrt(x.var(over, keepdims=True) + eps)


def by_channel(values: Array | None, dims: int, missing: float) -> Any:
    return missing if values is None else values.reshape(1, -1, *(1,) * (dims - 2))


def batch_norm(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array | None,
    var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
    *_: Any,
) -> tuple[Array, Array, Array]:
    over = (0, *range(2, x.ndim))
    if training:
        centre, scale = moments(x, over, eps)
        kept = centre.reshape(-1), scale.reshape(-1)
    else:
        centre, scale = by_channel(mean, x.ndim, 0), 1 / np.sqrt(by_channel(var, x.ndim, 1) + eps)
        kept = np.zeros(0), np.zeros(0)
    return ((x - centre) * scale * by_channel(weight, x.ndim, 1) + by_channel(bias, x.ndim, 0), *kept)


def layer_norm(x: Array, shape: list[int], weight: Any, bias: Any, eps: float, *_: Any) -> tuple[Array, ...]:
    over = tuple(range(-len(shape), 0))
    mean, rstd = moments(x, over, eps)
    return (x - mean) * rstd * (1 if weight is None else weight) + (0 if bias is None else bias), mean, rstd


def group_norm(x: Array, groups: int, weight: Any, bias: Any, eps: float) -> tuple[Array, Array, Array]:
    whole = x.reshape(x.shape[0], groups, -1)
    mean, rstd = moments(whole, (2,), eps)
    y = ((whole - mean) * rstd).reshape(x.shape)
    return y * by_channel(weight, x.ndim, 1) + by_channel(bias, x.ndim, 0), mean[..., 0], rstd[..., 0]


def instance_norm(
    x: Array, weight: Any, bias: Any, mean: Any, var: Any, by_input: bool, _: float, eps: float, __: bool
) -> Array:
    if not by_input:
        return batch_norm(x, weight, bias, mean, var, False, 0.0, eps)[0]
    return group_norm(x, x.shape[1], weight, bias, eps)[0]


def rms_norm(x: Array, shape: list[int], weight: Any = None, eps: float | None = None) -> tuple[Array, Array]:
    scale = 1 / np.sqrt((x * x).mean(tuple(range(-len(shape), 0)), keepdims=True) + eps)
    return x * scale * (1 if weight is None else weight), scale


def numerically(forward: Callable[..., Array]) -> Callable[..., tuple[Array, ...]]:
    """The gradients of x, weight and bias by central differences."""

    def oracle(grad: Array, x: Array, weight: Array, bias: Array) -> tuple[Array, ...]:
        def of(which: int) -> Array:
            arguments = [x, weight, bias]
            found = np.zeros(arguments[which].shape)
            for i in np.ndindex(found.shape):
                ends = []
                for step in (1e-5, -1e-5):
                    moved = arguments[which].copy()
                    moved[i] += step
                    ends.append(forward(*arguments[:which], moved, *arguments[which + 1 :]))
                found[i] = (grad * (ends[0] - ends[1])).sum() / 2e-5
            return found

        return of(0), of(1), of(2)

    return oracle


def with_update(x: Array, w: Array, b: Array, mean: Array, var: Array, momentum: float, eps: float) -> Any:
    """In training, with the running statistics moved to the share `momentum` towards the batch's."""
    kept = 1 - momentum
    moved = (kept * mean + momentum * x.mean((0, 2)), kept * var + momentum * x.var((0, 2), ddof=1))
    return *batch_norm(x, w, b, mean, var, True, momentum, eps), np.zeros(0), *moved


def others(x: Array, dim: int) -> tuple[int, ...]:
    """All axes but one; all of them for -1."""
    return tuple(axis for axis in range(x.ndim) if axis != dim)


def weight_norm(v: Array, g: Array, dim: int = 0) -> tuple[Array, Array]:
    norms = np.sqrt((v * v).sum(others(v, dim), keepdims=dim != -1))
    return v * (g / norms), norms


def weight_norm_backward(grad: Array, v: Array, g: Array, norms: Array, dim: int) -> tuple[Array, Array]:
    along = (grad * v).sum(others(v, dim), keepdims=True)
    return g * (grad / norms - v * along / norms**3), along / norms


def batch_norm_backward(
    grad: Array, x: Array, weight: Array, mean: Any, var: Any, m: Any, r: Any, train: bool, eps: float, _: Any
) -> Any:
    given = (mean, var, train, 0.0, eps)
    return numerically(lambda x, w, b: batch_norm(x, w, b, *given)[0])(grad, x, weight, np.zeros_like(weight))


X, CHANNELS = t(3, 2, 4), t(2)
STATISTICS = (t(2, grad=False), t(2, low=0.5, grad=False))
SINGLE = ("float32", "float64")
THREE = (SAME, SAME, SAME)
BYTE = always("uint8")


ROWS: tuple[Row, ...] = (
    row("batch_norm", lambda *a: batch_norm(*a)[0], call(X, CHANNELS, CHANNELS, None, None, True, 0.1, EPS, True),
        call(t(2, 2, 3, 3), None, None, *STATISTICS, False, 0.1, EPS, True), dtypes=FLOATS, cuda=False, tolerance=4),
    row("native_batch_norm", batch_norm, call(X, CHANNELS, CHANNELS, None, None, True, 0.1, EPS),
        call(X, CHANNELS, None, *STATISTICS, False, 0.1, EPS), dtypes=SINGLE, result=THREE, tolerance=4),
    row("_native_batch_norm_legit", batch_norm, call(X, CHANNELS, CHANNELS, *STATISTICS, False, 0.1, EPS),
        dtypes=SINGLE, result=THREE, tolerance=4),
    row("_native_batch_norm_legit.no_stats", lambda x, w, b, *rest: batch_norm(x, w, b, None, None, *rest),
        call(X, CHANNELS, CHANNELS, True, 0.1, EPS), dtypes=SINGLE, result=THREE, tolerance=4),
    row("_native_batch_norm_legit_no_training", lambda x, w, b, m, v, *rest: batch_norm(x, w, b, m, v, False, *rest),
        call(X, CHANNELS, CHANNELS, *STATISTICS, 0.1, EPS), dtypes=SINGLE, result=THREE, tolerance=4),
    row("_native_batch_norm_legit_functional", lambda x, w, b, m, v, *rest: (*batch_norm(x, w, b, m, v, *rest), m, v),
        call(X, CHANNELS, CHANNELS, *STATISTICS, False, 0.1, EPS), dtypes=SINGLE, cuda=False, result=(SAME,) * 5,
        tolerance=4, in_torch=False),
    row("_batch_norm_with_update_functional", with_update, call(X, CHANNELS, CHANNELS, *STATISTICS, 0.1, EPS),
        dtypes=SINGLE, cuda=False, result=(*THREE, BYTE, SAME, SAME), tolerance=4, in_torch=False),
    row("_batch_norm_no_update", lambda x, w, b, m, v, *rest: (*batch_norm(x, w, b, m, v, False, *rest), np.zeros(0)),
        call(X, CHANNELS, CHANNELS, *STATISTICS, 0.1, EPS), dtypes=SINGLE, cuda=False, result=(*THREE, BYTE),
        tolerance=4, in_torch=False),
    row("batch_norm_update_stats", lambda x, *_: (x.mean((0, 2)), x.var((0, 2))), call(X, None, None, 0.1),
        dtypes=SINGLE, result=(SAME, SAME), tolerance=4, differentiable=False),
    row("batch_norm_backward", lambda *a: batch_norm_backward(*a[:-1]),
        call(X, X, CHANNELS, *STATISTICS, None, None, False, EPS, MASK, T((0,), dtype="uint8", grad=False)),
        dtypes=SINGLE, result=THREE, tolerance=50, in_torch=False),
    row("native_batch_norm_backward", batch_norm_backward,
        call(X, X, CHANNELS, *STATISTICS, None, None, False, EPS, MASK), dtypes=SINGLE, result=THREE, tolerance=50),
    row("instance_norm", instance_norm, call(t(2, 2, 5), CHANNELS, CHANNELS, None, None, True, 0.1, EPS, True),
        call(t(2, 2, 5), None, None, *STATISTICS, False, 0.1, EPS, True), dtypes=FLOATS, cuda=False, tolerance=8),
    row("layer_norm", lambda *a: layer_norm(*a)[0], call(t(3, 2, 4), [4], t(4), t(4), EPS),
        call(t(3, 2, 4), [2, 4], None, None, EPS), dtypes=FLOATS, cuda=False, tolerance=4),
    row("native_layer_norm", layer_norm, call(t(3, 2, 4), [4], t(4), t(4), EPS),
        call(t(3, 2, 4), [2, 4], t(2, 4), None, EPS), dtypes=SINGLE, result=THREE, tolerance=4),
    row("group_norm", lambda *a: group_norm(*a)[0], call(t(2, 4, 3), 2, t(4), t(4), EPS),
        call(t(2, 4, 3, 2), 4, None, None, EPS), dtypes=FLOATS, cuda=False, tolerance=8),
    row("native_group_norm", lambda x, w, b, N, C, HxW, group, eps: group_norm(x, group, w, b, eps),
        call(t(2, 4, 3), t(4), t(4), 2, 4, 3, 2, EPS), dtypes=SINGLE, result=THREE, tolerance=4, in_torch=False),
    row("rms_norm", lambda *a: rms_norm(*a)[0], call(t(3, 2, 4), [4], t(4), 0.1), call(t(3, 2, 4), [2, 4], None, 0.1),
        dtypes=FLOATS, cuda=False, tolerance=4),
    row("_fused_rms_norm", rms_norm, call(t(3, 2, 4), [4], t(4), 0.1), dtypes=SINGLE, cuda=False, result=(SAME, SAME),
        tolerance=4),
    row("norm_except_dim", lambda v, pow, dim: (abs(v) ** pow).sum(others(v, dim), keepdims=dim != -1) ** (1 / pow),
        call(t(3, 2, 4), 2, 0), call(t(3, 2, 4), 3, 1), call(t(3, 4), 2, 1), call(t(3, 4), 2, -1), dtypes=FLOATS,
        cuda=False, tolerance=4),
    row("_weight_norm", lambda *a: weight_norm(*a)[0], call(t(3, 2, 4), t(3, 1, 1), 0), call(t(3, 2, 4), t(1, 2, 1), 1),
        call(t(3, 4), t(), -1), dtypes=FLOATS, cuda=False, tolerance=4),
    row("_weight_norm_interface", weight_norm, call(t(3, 2, 4), t(3, 1, 1)), call(t(3, 2, 4), t(1, 1, 4), 2),
        dtypes=SINGLE, result=(SAME, SAME), tolerance=4),
    row("_weight_norm_differentiable_backward", weight_norm_backward,
        call(t(3, 4), t(3, 4), t(3, 1), t(3, 1, low=0.5), 0), call(t(3, 4), t(3, 4), t(1, 4), t(1, 4, low=0.5), 1),
        dtypes=SINGLE, cuda=False, result=(SAME, SAME), tolerance=8, in_torch=False),
)  # fmt: skip
