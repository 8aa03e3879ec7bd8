"""What do the operators of the family loss compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.rows.shared import SINGLE_AND_DOUBLE
from tests.agreement.rows.softmax import log_softmax
from tests.agreement.samples import FLOATS, SAME, Row, T, call, index, row, t

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


def reduced(each: Any, reduction: int = 1) -> Any:
    """Losses, their mean or their sum."""
    return [each, np.mean(each), np.sum(each)][reduction]


def of(loss: Any) -> Any:
    """A loss of two tensors, from that of two elements; `loss(x, y, *numbers)`."""
    return lambda x, y, reduction=1, *numbers: reduced(loss(x, y, *numbers), reduction)


def gradient_of(slope: Any) -> Any:
    """The gradient of such a loss, from its slope at two elements."""
    return lambda grad, x, y, reduction, *numbers: (
        grad * slope(x, y, *numbers) / (np.broadcast(x, y).size if reduction == 1 else 1)
    )


def smooth_l1(x: Array, y: Array, beta: float = 1.0) -> Array:
    gap = np.abs(x - y)
    return np.where(gap < beta, gap**2 / 2 / beta, gap - beta / 2)


def huber(x: Array, y: Array, delta: float = 1.0) -> Array:
    return delta * smooth_l1(x, y, delta)


def bce(p: Array, y: Array, weight: Array | None = None, reduction: int = 1) -> Any:
    each = -y * np.log(p) - (1 - y) * np.log(1 - p)
    return reduced(each * (1 if weight is None else weight), reduction)


def bce_backward(grad: Array, p: Array, y: Array, weight: Array | None = None, reduction: int = 1) -> Any:
    each = grad * (p - y) / (p * (1 - p)) * (1 if weight is None else weight)
    return each / p.size if reduction == 1 else each


def bce_with_logits(x: Array, y: Array, weight: Any = None, positive: Any = None, reduction: int = 1) -> Any:
    p = 1 / (1 + np.exp(-x))
    each = -y * np.log(p) * (1 if positive is None else positive) - (1 - y) * np.log(1 - p)
    return reduced(each * (1 if weight is None else weight), reduction)


def kl_div(x: Array, y: Array, reduction: int = 1, log_target: bool = False) -> Any:
    return reduced(np.exp(y) * (y - x) if log_target else y * (np.log(y) - x), reduction)


def poisson_nll(x: Array, y: Array, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    each = np.exp(x) - y * x if log_input else x - y * np.log(x + eps)
    stirling = y * np.log(y) - y + np.log(2 * np.pi * y) / 2
    return reduced(each + np.where(y > 1, stirling, 0) if full else each, reduction)


# Pairs and triplets of vectors


def hinge_embedding(x: Array, y: Array, margin: float = 1.0, reduction: int = 1) -> Any:
    return reduced(np.where(y == 1, x, np.maximum(0, margin - x)), reduction)


def cosine_embedding(a: Array, b: Array, y: Array, margin: float = 0.0, reduction: int = 1) -> Any:
    cosine = (a * b).sum(-1) / np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    return reduced(np.where(y == 1, 1 - cosine, np.maximum(0, cosine - margin)), reduction)


def margin_ranking(a: Array, b: Array, y: Array, margin: float = 0.0, reduction: int = 1) -> Any:
    return reduced(np.maximum(0, margin - y * (a - b)), reduction)


def triplet_margin(
    a: Array, b: Array, c: Array, margin: float = 1, p: float = 2, eps: float = 1e-6, swap: bool = False, mode: int = 1
) -> Any:
    def distance(x: Array, y: Array) -> Any:
        return np.linalg.norm(x - y + eps, p, -1)

    far = np.minimum(distance(a, c), distance(b, c)) if swap else distance(a, c)
    return reduced(np.maximum(0, margin + distance(a, b) - far), mode)


# Margins between classes


def multi_margin(x: Array, y: Array, p: int = 1, margin: float = 1, weight: Any = None, reduction: int = 1) -> Any:
    losses = []
    for scores, label in zip(np.atleast_2d(x), np.atleast_1d(y), strict=True):
        lacking = np.maximum(0, margin - scores[label] + np.delete(scores, label)) ** p
        losses.append(lacking.sum() / scores.size * (1 if weight is None else weight[label]))
    return reduced(np.reshape(losses, y.shape), reduction)


def multilabel_margin(x: Array, y: Array, reduction: int = 1) -> tuple[Any, Array]:
    """The loss, and whether a class is a target."""
    losses, marks = [], []
    for scores, labels in zip(np.atleast_2d(x), np.atleast_2d(y), strict=True):
        labels = labels[: (*np.flatnonzero(labels < 0), labels.size)[0]]
        marks.append(np.isin(np.arange(scores.size), labels))
        lacking = np.maximum(0, 1 - scores[labels][:, None] + scores[~marks[-1]])
        losses.append(lacking.sum() / scores.size)
    return reduced(np.reshape(losses, y.shape[:-1]), reduction), np.reshape(marks, x.shape).astype(x.dtype)


def by_differences(loss: Any) -> Any:
    """The gradient of a loss of straight lines and parabolas, from its differences at each element."""

    def gradient(grad: Array, x: Array, y: Array, *rest: Any) -> Array:
        result = np.zeros_like(x)
        for i in np.ndindex(*x.shape):
            step = np.zeros_like(x)
            step[i] = 1e-4
            result[i] = np.sum(grad * (loss(x + step, y, *rest) - loss(x - step, y, *rest)) / 2e-4)
        return result

    return gradient


CLASSES = index(4, below=3)
IMAGE_CLASSES = index(2, 2, 2, below=3)
LABELS = T((4, 3), -1, 2, "int64", grad=False)
WEIGHTS = t(3, low=1, grad=False)
SIGNS = t(2, 3, low=-1, high=-1, grad=False)
SHARES = t(2, 3, low=0.1, high=1)


ROWS: tuple[Row, ...] = (
    row("nll_loss_forward", nll_loss, call(t(4, 3), CLASSES, None, 1, -100),
        call(t(4, 3), CLASSES, WEIGHTS, 2, 1), call(t(4, 3), CLASSES, None, 0, -100), dtypes=FLOATS,
        result=(SAME, SAME)),
    row("nll_loss_backward", nll_loss_backward,
        call(t(), t(4, 3), CLASSES, None, 1, -100, t(low=4, high=4, grad=False)),
        call(t(4), t(4, 3), CLASSES, WEIGHTS, 0, 1, t(grad=False)), dtypes=FLOATS),
    row("nll_loss", lambda *a: nll_loss(*a)[0], call(t(4, 3), CLASSES),
        call(t(4, 3), CLASSES, WEIGHTS, 0, 1), dtypes=FLOATS),
    row("nll_loss2d_forward", nll_loss, call(t(2, 3, 2, 2), IMAGE_CLASSES, None, 1, -100),
        call(t(2, 3, 2, 2), IMAGE_CLASSES, WEIGHTS, 2, 1), dtypes=FLOATS, result=(SAME, SAME)),
    row("nll_loss2d_backward", nll_loss_backward,
        call(t(), t(2, 3, 2, 2), IMAGE_CLASSES, None, 1, -100, t(low=8, high=8, grad=False)), dtypes=FLOATS),
    row("nll_loss2d", lambda *a: nll_loss(*a)[0], call(t(2, 3, 2, 2), IMAGE_CLASSES), dtypes=FLOATS),
    row("nll_loss_nd", lambda *a: nll_loss(*a)[0], call(t(4, 3), CLASSES), call(t(2, 3, 2), index(2, 2, below=3)),
        dtypes=FLOATS),
    row("cross_entropy_loss", cross_entropy, call(t(4, 3), CLASSES), call(t(4, 3), t(4, 3, low=0)),
        call(t(4, 3), CLASSES, WEIGHTS, 2, 1), call(t(4, 3), CLASSES, None, 0, -100, 0.1),
        dtypes=FLOATS),
    row("mse_loss", mse, call(t(2, 3), t(2, 3)), call(t(2, 3), t(2, 3), 0), call(t(2, 3), t(2, 3), 2), dtypes=FLOATS),
    row("mse_loss_backward", mse_backward, call(t(), t(2, 3), t(2, 3), 1), call(t(2, 3), t(2, 3), t(2, 3), 0),
        dtypes=FLOATS),
    row("l1_loss", of(lambda x, y: np.abs(x - y)), call(t(2, 3), t(2, 3, low=3, high=5)),
        call(t(2, 3), t(2, 3, low=3, high=5), 0), call(t(2, 3), t(2, 3, low=3, high=5), 2), dtypes=FLOATS),
    row("smooth_l1_loss", of(smooth_l1), call(t(2, 3), t(2, 3)), call(t(2, 3), t(2, 3), 0, 0.7),
        call(t(2, 3), t(2, 3), 2, 1.7), dtypes=FLOATS),
    row("smooth_l1_loss_backward", gradient_of(lambda x, y, beta: np.clip((x - y) / beta, -1, 1)),
        call(t(), t(2, 3), t(2, 3), 1, 0.7), call(t(2, 3), t(2, 3), t(2, 3), 0, 1.7), dtypes=FLOATS),
    row("huber_loss", of(huber), call(t(2, 3), t(2, 3)), call(t(2, 3), t(2, 3), 0, 0.7),
        call(t(2, 3), t(2, 3), 2, 1.7), dtypes=FLOATS),
    row("huber_loss_backward", gradient_of(lambda x, y, delta: np.clip(x - y, -delta, delta)),
        call(t(), t(2, 3), t(2, 3), 1, 0.7), call(t(2, 3), t(2, 3), t(2, 3), 0, 1.7), dtypes=FLOATS),
    row("soft_margin_loss", of(lambda x, y: np.log1p(np.exp(-x * y))), call(t(2, 3), SIGNS), call(t(2, 3), SIGNS, 0),
        call(t(2, 3), SIGNS, 2), dtypes=FLOATS, tolerance=8, cuda=False),
    row("soft_margin_loss_backward", gradient_of(lambda x, y: -y / (1 + np.exp(x * y))), call(t(), t(2, 3), SIGNS, 1),
        call(t(2, 3), t(2, 3), SIGNS, 0), dtypes=FLOATS, tolerance=8, cuda=False),
    row("binary_cross_entropy", bce, call(SHARES, SHARES), call(SHARES, SHARES, WEIGHTS, 0),
        call(SHARES, SHARES, None, 2), dtypes=FLOATS, tolerance=8),
    row("binary_cross_entropy_backward", bce_backward, call(t(), SHARES, SHARES, None, 1),
        call(t(2, 3), SHARES, SHARES, WEIGHTS, 0), dtypes=FLOATS, tolerance=8),
    row("binary_cross_entropy_with_logits", bce_with_logits, call(t(2, 3), SHARES),
        call(t(2, 3), SHARES, WEIGHTS, None, 0), call(t(2, 3), SHARES, None, WEIGHTS, 2),
        dtypes=FLOATS, tolerance=16, cuda=False),
    row("kl_div", kl_div, call(t(2, 3), t(2, 3, low=1)), call(t(2, 3), t(2, 3), 0, log_target=True),
        call(t(2, 3), t(2, 3, low=1), 2), dtypes=FLOATS, tolerance=8, cuda=False),
    row("poisson_nll_loss", poisson_nll, call(t(2, 3), t(2, 3, low=1), True, False, 1e-8, 1),
        call(t(2, 3, low=1), t(2, 3, low=1), False, True, 1e-8, 0), dtypes=FLOATS, tolerance=16, cuda=False),
    row("hinge_embedding_loss", hinge_embedding, call(t(2, 3), SIGNS), call(t(2, 3), SIGNS, 1.7, 0),
        call(t(2, 3), SIGNS, 1.7, 2), dtypes=FLOATS, tolerance=4, cuda=False),
    row("cosine_embedding_loss", cosine_embedding, call(t(2, 3), t(2, 3), t(2, low=-1, high=-1, grad=False)),
        call(t(3), t(3), t(low=1, high=1, grad=False), 0.5, 0), dtypes=FLOATS, tolerance=16, cuda=False),
    row("margin_ranking_loss", margin_ranking, call(t(2, 3), t(2, 3), SIGNS, 0.3),
        call(t(2, 3), t(2, 3), SIGNS, 1.7, 0), dtypes=FLOATS, tolerance=4, cuda=False),
    row("triplet_margin_loss", triplet_margin, call(t(2, 3), t(2, 3), t(2, 3), 5.0),
        call(t(2, 3), t(2, 3), t(2, 3), 9.0, 1, 1e-6, True, 0), dtypes=FLOATS, tolerance=16, cuda=False),
    row("multi_margin_loss", multi_margin, call(t(4, 3), CLASSES),
        call(t(4, 3), CLASSES, 2, 0.7, WEIGHTS, 0),
        call(t(3), index(below=3), 1, 1.3, None, 2), dtypes=SINGLE_AND_DOUBLE, tolerance=8, twice=False),
    row("multi_margin_loss_backward", by_differences(multi_margin),
        call(t(), t(4, 3), CLASSES, 1, 0.7, None, 1), call(t(4), t(4, 3), CLASSES, 2, 0.7, WEIGHTS, 0),
        dtypes=SINGLE_AND_DOUBLE, tolerance=32, differentiable=False),
    row("multilabel_margin_loss", lambda *a: multilabel_margin(*a)[0], call(t(4, 3), LABELS), call(t(4, 3), LABELS, 0),
        call(t(3), T((3,), -1, 2, "int64", grad=False), 2), dtypes=SINGLE_AND_DOUBLE, tolerance=8, cuda=False,
        twice=False),
    row("multilabel_margin_loss_forward", multilabel_margin, call(t(4, 3), LABELS, 1), call(t(4, 3), LABELS, 0),
        dtypes=SINGLE_AND_DOUBLE, result=(SAME, SAME), tolerance=8, twice=False),
)  # fmt: skip
