"""What do the operators of the family loss compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.rows.softmax import log_softmax
from tests.agreement.samples import FLOATS, SAME, Row, call, index, row, t

Array = np.ndarray[Any, Any]


def nll_loss(x: Array, target: Array, weight: Array | None = None, reduction: int = 1, ignore: int = -100) -> Any:
    """The loss and the total weight; classes are in dimension 1, or 0 of a vector."""
    classes = np.moveaxis(x, 1 if x.ndim > 1 else 0, -1)
    kept = target != ignore
    safe = np.where(kept, target, 0)
    weights = np.where(kept, 1.0 if weight is None else weight[safe], 0.0)
    each = -np.take_along_axis(classes, safe[..., None], -1)[..., 0] * weights
    if reduction == 0:
        return each, np.zeros(()) if x.ndim > 1 else weights.sum()
    return (each.sum() / weights.sum() if reduction == 1 else each.sum()), weights.sum()


def nll_loss_backward(
    grad: Array, x: Array, target: Array, weight: Array | None, reduction: int, ignore: int, total: Array
) -> Array:
    result = np.zeros_like(x)
    classes = np.moveaxis(result, 1 if x.ndim > 1 else 0, -1)
    grad = np.broadcast_to(grad / total if reduction == 1 else grad, target.shape)
    for i in np.ndindex(*target.shape):
        if target[i] != ignore:
            classes[(*i, target[i])] = -grad[i] * (1.0 if weight is None else weight[target[i]])
    return result


def cross_entropy(
    x: Array, target: Array, weight: Any = None, reduction: int = 1, ignore: int = -100, smoothing: float = 0.0
) -> Array:
    logs = log_softmax(x, 1 if x.ndim > 1 else 0)
    if target.dtype.kind == "f":
        classes = x.shape[1]
        smooth = target * (1 - smoothing) + smoothing / classes
        each = -(logs * smooth).sum(1)
        return [each, each.mean(), each.sum()][reduction]
    plain = nll_loss(logs, target, weight, reduction, ignore)[0]
    if not smoothing:
        return plain
    spread = -logs.mean(1)  # without weights and ignored targets, which the row's call has none of
    return (1 - smoothing) * plain + smoothing * [spread, spread.mean(), spread.sum()][reduction]


def mse(x: Array, y: Array, reduction: int = 1) -> Array:
    squares = (x - y) ** 2
    return [squares, squares.mean(), squares.sum()][reduction]


def mse_backward(grad: Array, x: Array, y: Array, reduction: int) -> Array:
    return grad * 2 * (x - y) / (x.size if reduction == 1 else 1)


CLASSES = index(4, below=3)
IMAGE_CLASSES = index(2, 2, 2, below=3)


ROWS: tuple[Row, ...] = (
    row("nll_loss_forward", nll_loss, call(t(4, 3), CLASSES, None, 1, -100),
        call(t(4, 3), CLASSES, t(3, low=1, grad=False), 2, 1), call(t(4, 3), CLASSES, None, 0, -100), dtypes=FLOATS,
        result=(SAME, SAME)),
    row("nll_loss_backward", nll_loss_backward,
        call(t(), t(4, 3), CLASSES, None, 1, -100, t(low=4, high=4, grad=False)),
        call(t(4), t(4, 3), CLASSES, t(3, low=1, grad=False), 0, 1, t(grad=False)), dtypes=FLOATS),
    row("nll_loss", lambda *a: nll_loss(*a)[0], call(t(4, 3), CLASSES),
        call(t(4, 3), CLASSES, t(3, low=1, grad=False), 0, 1), dtypes=FLOATS),
    row("nll_loss2d_forward", nll_loss, call(t(2, 3, 2, 2), IMAGE_CLASSES, None, 1, -100),
        call(t(2, 3, 2, 2), IMAGE_CLASSES, t(3, low=1, grad=False), 2, 1), dtypes=FLOATS, result=(SAME, SAME)),
    row("nll_loss2d_backward", nll_loss_backward,
        call(t(), t(2, 3, 2, 2), IMAGE_CLASSES, None, 1, -100, t(low=8, high=8, grad=False)), dtypes=FLOATS),
    row("nll_loss2d", lambda *a: nll_loss(*a)[0], call(t(2, 3, 2, 2), IMAGE_CLASSES), dtypes=FLOATS),
    row("nll_loss_nd", lambda *a: nll_loss(*a)[0], call(t(4, 3), CLASSES), call(t(2, 3, 2), index(2, 2, below=3)),
        dtypes=FLOATS),
    row("cross_entropy_loss", cross_entropy, call(t(4, 3), CLASSES), call(t(4, 3), t(4, 3, low=0)),
        call(t(4, 3), CLASSES, t(3, low=1, grad=False), 2, 1), call(t(4, 3), CLASSES, None, 0, -100, 0.1),
        dtypes=FLOATS),
    row("mse_loss", mse, call(t(2, 3), t(2, 3)), call(t(2, 3), t(2, 3), 0), call(t(2, 3), t(2, 3), 2), dtypes=FLOATS),
    row("mse_loss_backward", mse_backward, call(t(), t(2, 3), t(2, 3), 1), call(t(2, 3), t(2, 3), t(2, 3), 0),
        dtypes=FLOATS),
)  # fmt: skip
