"""What does every operator compute? One row each, read by every oracle.

A row says it with NumPy. Its calls hold the cases that matter: broadcasting, sizes 0 and 1, other layouts in memory,
mixed dtypes. `test_coverage.py` says which operators may do without a row, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.agreement import (
    rows_aliases,
    rows_creation,
    rows_elementary,
    rows_factors,
    rows_indexing,
    rows_linalg,
    rows_moments,
    rows_ordering,
    rows_pointwise,
    rows_products,
    rows_shaping,
    rows_special,
    rows_statistics,
    rows_views,
)
from tests.agreement.samples import (
    BOOL,
    FLOAT,
    FLOATS,
    INTEGERS,
    LONG,
    NUMBERS,
    PROMOTED,
    SAME,
    SUMMED,
    Call,
    Device,
    Dtype,
    Row,
    always,
    call,
    index,
    mask,
    row,
    t,
)

Array = np.ndarray[Any, Any]
WHOLE = (*INTEGERS, "bool")
FLOATS_AND_INTEGERS = ("float32", "float64", "int64", "int32")

# Calls that many rows share ------------------------------------------------------------------------------------------

ONE = (call(t(2, 3)), call(t()), call(t(0, 2)), call(t(3, 2, layout="transposed")), call(t(2, 2, layout="stepped")))
POSITIVE = (call(t(2, 3, low=0.5, high=3)), call(t(low=1)), call(t(3, 2, low=0.5, layout="transposed")))


def two(**options: Any) -> tuple[Call, ...]:
    """Two tensors: alike, broadcast, transposed, empty, of mixed dtypes."""
    return (
        call(t(2, 3, **options), t(2, 3, **options)),
        call(t(2, 1, **options), t(3, **options)),
        call(t(3, 2, layout="transposed", **options), t(3, 2, layout="transposed", **options)),
        call(t(2, 3, layout="expanded", **options), t(2, 3, layout="stepped", **options)),
        call(t(0, 3, **options), t(3, **options)),
        call(t(2, 3, **options), t(2, 3, dtype="float32", **options), dtypes=FLOATS_AND_INTEGERS),
        call(t(2, 3, **options), t(2, 3, dtype="int64", **options), dtypes=FLOATS_AND_INTEGERS),
    )


def with_number(number: float, **options: Any) -> tuple[Call, ...]:
    """A tensor and a number."""
    return call(t(2, 3, **options), number), call(t(3, 2, layout="transposed", **options), number)


# NumPy functions of more than one step --------------------------------------------------------------------------------


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array, dim: int, *_: Any) -> Array:
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def log_softmax(x: Array, dim: int, *_: Any) -> Array:
    return np.log(softmax(x, dim))


def softmax_backward(grad: Array, output: Array, dim: int, dtype: Any) -> Array:
    return output * (grad - (grad * output).sum(dim, keepdims=True))


def log_softmax_backward(grad: Array, output: Array, dim: int, dtype: Any) -> Array:
    return grad - np.exp(output) * grad.sum(dim, keepdims=True)


def divide(x: Array, y: Array, rounding_mode: str | None = None) -> Array:
    quotient = x / y
    return {None: lambda q: q, "trunc": np.trunc, "floor": np.floor}[rounding_mode](quotient)


def reduced(function: Callable[..., Array]) -> Callable[..., Array]:
    """A reduction of NumPy with the arguments of PyTorch's."""

    def over(x: Array, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
        axis = tuple(dim) if isinstance(dim, list) else dim
        return np.asarray(function(x, axis=None if axis == () else axis, keepdims=keepdim))

    return over


def extremum(function: Callable[..., Array], place: Callable[..., Array]) -> Callable[..., Any]:
    """The values over a dimension, and where they stand."""

    def over(x: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
        if not x.ndim:
            return x, np.zeros((), np.int64)
        return function(x, axis=dim, keepdims=keepdim), place(x, axis=dim, keepdims=keepdim)

    return over


def argument(place: Callable[..., Array]) -> Callable[..., Array]:
    def over(x: Array, dim: int | None = None, keepdim: bool = False) -> Array:
        return np.asarray(place(x, axis=dim, keepdims=keepdim))

    return over


def addmm(x: Array, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Array:
    return beta * x + alpha * (a @ b)


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    return x @ weight.T + (0 if bias is None else bias)


def expand(x: Array, size: list[int]) -> Array:
    kept = (0,) * (len(size) - x.ndim) + x.shape
    return np.broadcast_to(x, [old if new == -1 else new for new, old in zip(size, kept, strict=True)])


def unfold(x: Array, dimension: int, size: int, step: int) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dimension)
    return np.take(windows, range(0, windows.shape[dimension], step), axis=dimension)


def pieces(x: Array, size: int, dim: int = 0) -> list[Array]:
    return np.split(x, range(size, x.shape[dim], size), axis=dim)


def as_strided(x: Array, size: Sequence[int], stride: Sequence[int], offset: int | None = None) -> Array:
    flat = x.reshape(-1)
    return np.array([flat[(offset or 0) + np.dot(i, stride)] for i in np.ndindex(*size)]).reshape(size)


def placed(shape: Sequence[int], where: Any, grad: Array) -> Array:
    """Zeros with a gradient at some places."""
    result = np.zeros(shape)
    result[where] = grad
    return result


def as_strided_backward(
    grad: Array, in_size: Any, in_stride: Any, in_offset: int, size: Any, stride: Any, offset: int
) -> Array:
    storage = np.zeros(100)
    for i in np.ndindex(*size):
        storage[offset + np.dot(i, stride)] += grad[i]
    return np.array([storage[in_offset + np.dot(i, in_stride)] for i in np.ndindex(*in_size)]).reshape(in_size)


def index_put(x: Array, indices: list[Any], values: Array, accumulate: bool = False) -> Array:
    result = x.copy()
    where = tuple(slice(None) if i is None else i for i in indices)
    if accumulate:
        np.add.at(result, where, values)
    else:
        result[where] = values
    return result


def scatter(x: Array, dim: int, places: Array, source: Any) -> Array:
    result = x.copy()
    part = np.broadcast_to(source, places.shape) if np.ndim(source) == 0 else source[tuple(map(slice, places.shape))]
    np.put_along_axis(result[tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(places.shape))],
                      places, part, dim)  # fmt: skip
    return result


def scatter_add(x: Array, dim: int, places: Array, source: Array) -> Array:
    result = x.copy()
    for i in np.ndindex(*places.shape):
        result[(*i[:dim], places[i], *i[dim + 1 :])] += source[i]
    return result


def gather(x: Array, dim: int, places: Array, **_: Any) -> Array:
    part = x[tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(places.shape))]
    return np.take_along_axis(part, places, dim)


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


# The table ------------------------------------------------------------------------------------------------------------

COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "gt": np.greater, "le": np.less_equal, "ge": np.greater_equal,
}  # fmt: skip
BITWISE: dict[str, Callable[..., Any]] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
CLASSES = index(4, below=3)
IMAGE_CLASSES = index(2, 2, 2, below=3)

OWN: tuple[Row, ...] = (
    # Creation
    row("zeros", lambda size, **_: np.zeros(size), call([2, 3]), call([0], dtype=Dtype("int64"), result=LONG),
        dtypes=("float32",), result=always("float32"), differentiable=False),
    row("ones", lambda size, **_: np.ones(size), call([2, 3]), call([], dtype=Dtype("bool"), result=BOOL),
        dtypes=("float32",), result=always("float32"), differentiable=False),
    row("full", lambda size, value, **_: np.full(size, value), call([2, 3], 1.5), call([2], 7, result=LONG),
        call([2], True, result=BOOL), dtypes=("float32",), result=always("float32"), differentiable=False),
    row("scalar_tensor", lambda value, **_: np.array(value), call(1.5), call(7), dtypes=("float32",),
        result=always("float32"), differentiable=False),
    row("arange", lambda end, **_: np.arange(end), call(5), call(0), call(2.5, result=always("float32")),
        dtypes=("int64",), result=LONG, differentiable=False),
    row("arange.start", lambda start, end, **_: np.arange(start, end), call(2, 5),
        call(-1.5, 2, result=always("float32")), dtypes=("int64",), result=LONG, differentiable=False),
    row("arange.start_step", lambda start, end, step=1, **_: np.arange(start, end, step), call(2, 9, 3),
        call(5, 0, -2), call(0, 1, 0.25, result=always("float32")), dtypes=("int64",), result=LONG,
        differentiable=False),
    row("zeros_like", lambda x, **_: np.zeros_like(x), *ONE, call(t(2), dtype=Dtype("int64"), result=LONG),
        differentiable=False),
    row("ones_like", lambda x, **_: np.ones_like(x), *ONE, differentiable=False),
    row("full_like", lambda x, value, **_: np.full_like(x, value), call(t(2, 3), 1),
        call(t(3, 2, layout="transposed"), 0), differentiable=False),
    row("new_zeros", lambda x, size, **_: np.zeros(size), call(t(1), [2, 2]), differentiable=False),
    row("new_ones", lambda x, size, **_: np.ones(size), call(t(1), [2, 2]), differentiable=False),
    row("new_full", lambda x, size, value, **_: np.full(size, value), call(t(1), [2, 2], 1), differentiable=False),
    # Pointwise, two tensors
    row("add.Tensor", lambda x, y, alpha=1: x + alpha * y, *two(), call(t(2), t(2), alpha=3),
        call(t(2), t(2), alpha=1.5, dtypes=FLOATS), dtypes=NUMBERS, result=PROMOTED),
    row("sub.Tensor", lambda x, y, alpha=1: x - alpha * y, *two(), call(t(2), t(2), alpha=3), dtypes=NUMBERS,
        result=PROMOTED),
    row("rsub.Tensor", lambda x, y, alpha=1: y - alpha * x, *two(), call(t(2), t(2), alpha=3), dtypes=NUMBERS,
        result=PROMOTED),
    row("rsub.Scalar", lambda x, y, alpha=1: y - alpha * x, *with_number(2), call(t(2), 3, 2), dtypes=NUMBERS),
    row("mul.Tensor", np.multiply, *two(), result=PROMOTED),
    row("div.Tensor", np.true_divide, *two(low=1, high=4), result=FLOAT),
    row("div.Tensor_mode", divide, call(t(2, 3, low=1, high=9), t(3, low=1, high=4), rounding_mode="trunc"),
        call(t(2, 3, low=1, high=9), t(3, low=1, high=4), rounding_mode="floor"),
        call(t(2, 3, low=1, high=9), t(3, low=1, high=4), rounding_mode=None, result=FLOAT),
        dtypes=FLOATS_AND_INTEGERS, result=PROMOTED),
    row("floor_divide", lambda x, y: np.floor(x / y), *two(low=1, high=9), dtypes=FLOATS_AND_INTEGERS,
        result=PROMOTED, differentiable=False),
    row("remainder.Tensor", np.remainder, *two(low=1, high=9), dtypes=FLOATS_AND_INTEGERS, result=PROMOTED),
    row("pow.Tensor_Tensor", np.power, *two(low=1, high=3), dtypes=NUMBERS, result=PROMOTED),
    row("pow.Scalar", lambda x, y: x ** y.astype(float), call(2, t(2, 3, low=0)), call(1, t(3)), dtypes=NUMBERS),
    row("pow.Tensor_Scalar", np.power, *with_number(2), *with_number(3), call(t(3), 0), call(t(3), 1),
        call(t(3, low=1), 0.5, result=FLOAT), call(t(3, low=1), -1, dtypes=FLOATS), dtypes=NUMBERS),
    row("maximum", np.maximum, *two(), result=PROMOTED),
    row("minimum", np.minimum, *two(), result=PROMOTED),
    *(row(f"{name}.Tensor", function, *two(), result=BOOL, differentiable=False)
      for name, function in COMPARISONS.items()),
    *(row(f"{name}.Scalar", function, *with_number(1), *with_number(0.5), result=BOOL, differentiable=False)
      for name, function in COMPARISONS.items()),
    *(row(f"bitwise_{name}.Tensor", function, call(t(2, 3, low=0, high=9), t(3, low=0, high=9)),
          call(t(2, 3, low=0), t(2, 3, dtype="int64", low=0)), dtypes=WHOLE, result=PROMOTED, differentiable=False)
      for name, function in BITWISE.items()),
    *(row(f"bitwise_{name}.Scalar", function, *with_number(6, low=0, high=9), dtypes=INTEGERS, differentiable=False)
      for name, function in BITWISE.items()),
    row("bitwise_not", np.invert, *ONE, dtypes=("int64", "int32", "bool"), differentiable=False),
    # Pointwise, one tensor
    row("neg", np.negative, *ONE, dtypes=NUMBERS),
    row("abs", np.absolute, *ONE, dtypes=NUMBERS),
    row("sgn", np.sign, *ONE, dtypes=NUMBERS),
    row("exp", np.exp, *ONE, result=FLOAT),
    row("log", np.log, *POSITIVE, result=FLOAT, dtypes=NUMBERS),
    row("sqrt", np.sqrt, *POSITIVE, result=FLOAT, dtypes=NUMBERS),
    row("rsqrt", lambda x: 1 / np.sqrt(x), *POSITIVE, result=FLOAT, dtypes=NUMBERS),
    row("reciprocal", lambda x: 1 / x, *POSITIVE, result=FLOAT, dtypes=NUMBERS),
    row("sin", np.sin, *ONE, result=FLOAT),
    row("cos", np.cos, *ONE, result=FLOAT),
    row("tanh", np.tanh, *ONE, result=FLOAT),
    row("sigmoid", sigmoid, *ONE, result=FLOAT),
    row("relu", lambda x: np.maximum(x, 0), *ONE, dtypes=NUMBERS),
    row("isnan", np.isnan, *ONE, dtypes=NUMBERS, result=BOOL, differentiable=False),
    row("equal", np.array_equal, call(t(2, 3), t(2, 3)), call(t(2), t(3)), differentiable=False, meta=False),
    row("allclose", np.allclose, call(t(2, 3), t(3)), call(t(2), t(2), 1.0), dtypes=FLOATS, differentiable=False,
        meta=False),
    row("positive", lambda x: x, *ONE, dtypes=NUMBERS),
    row("tanh_backward", lambda g, y: g * (1 - y * y), call(t(2, 3), t(2, 3)), dtypes=FLOATS),
    row("sigmoid_backward", lambda g, y: g * y * (1 - y), call(t(2, 3), t(2, 3)), dtypes=FLOATS),
    row("threshold_backward", lambda g, x, threshold: np.where(x > threshold, g, 0), call(t(2, 3), t(2, 3), 0),
        call(t(2, 3), t(2, 3), 1), dtypes=NUMBERS),
    # Pointwise, several tensors
    row("where.self", np.where, call(mask(2, 3), t(2, 3), t(2, 3)), call(mask(2, 1), t(3), t()),
        call(mask(2, 3), t(2, 3), t(2, 3, dtype="float32"), dtypes=FLOATS_AND_INTEGERS),
        result=lambda dtypes: PROMOTED(dtypes[1:])),
    row("where.ScalarSelf", np.where, call(mask(2, 3), 1, t(2, 3)), dtypes=NUMBERS, result=lambda dtypes: dtypes[1]),
    row("where.ScalarOther", np.where, call(mask(2, 3), t(2, 3), 1), dtypes=NUMBERS, result=lambda dtypes: dtypes[1]),
    row("where.Scalar", np.where, call(mask(2, 3), 1, 2), call(mask(3), 1.5, 0, result=always("float32")),
        dtypes=("float32",), result=LONG, differentiable=False),
    row("where", lambda condition: list(np.nonzero(condition)), call(mask(2, 3)), dtypes=("bool",), result=LONG,
        differentiable=False, meta=False),
    row("clamp", lambda x, min=None, max=None: np.clip(x, min, max), call(t(2, 3), -1, 1), call(t(2, 3), min=0),
        call(t(3, 2, layout="transposed"), max=1), dtypes=FLOATS_AND_INTEGERS),
    row("clamp.Tensor", lambda x, min=None, max=None: np.clip(x, min, max),
        call(t(2, 3), t(3, low=-1, high=0), t(3, low=1)), call(t(2, 3), max=t(2, 1)), call(t(2, 3), t(2, 3)),
        dtypes=FLOATS_AND_INTEGERS, result=PROMOTED),
    row("addcmul", lambda x, a, b, value=1: x + value * a * b, call(t(2, 3), t(2, 1), t(3)),
        call(t(2, 3), t(2, 3), t(2, 3), value=2), dtypes=NUMBERS),
    row("addcdiv", lambda x, a, b, value=1: x + value * a / b, call(t(2, 3), t(2, 1), t(3, low=1)),
        call(t(2, 3), t(2, 3), t(2, 3, low=1), value=2), dtypes=FLOATS),
    row("lerp.Scalar", lambda x, end, weight: x + weight * (end - x), call(t(2, 3), t(3), 0.3),
        call(t(2, 3), t(2, 3), 0.8), dtypes=FLOATS),
    row("masked_fill.Scalar", lambda x, m, value: np.where(m, value, x), call(t(2, 3), mask(2, 3), 1),
        call(t(2, 3), mask(3), 0)),
    # Reductions
    row("sum", reduced(np.sum), call(t(2, 3)), call(t()), call(t(0)), call(t(3, 2, layout="transposed")),
        call(t(2), dtype=Dtype("float64"), result=always("float64")), result=SUMMED),
    row("sum.dim_IntList", reduced(np.sum), call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1], True), call(t(2, 3), None),
        call(t(2, 0), [1]), call(t(3, 2, 2, layout="transposed"), [1]), result=SUMMED),
    row("mean", reduced(np.mean), call(t(2, 3)), call(t()), dtypes=FLOATS),
    row("mean.dim", reduced(np.mean), call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1], True), call(t(2, 3), None),
        dtypes=FLOATS),
    row("max", np.max, call(t(2, 3, distinct=True)), call(t())),
    row("min", np.min, call(t(2, 3, distinct=True)), call(t())),
    row("max.dim", extremum(np.max, np.argmax), call(t(2, 3, distinct=True), 1),
        call(t(3, 2, 2, distinct=True), 0, True), call(t(), 0), dtypes=NUMBERS, result=(SAME, LONG)),
    row("min.dim", extremum(np.min, np.argmin), call(t(2, 3, distinct=True), 1),
        call(t(3, 2, 2, distinct=True), 0, True), call(t(), 0), dtypes=NUMBERS, result=(SAME, LONG)),
    row("amax", reduced(np.max), call(t(2, 3, distinct=True)), call(t(2, 3, 2, distinct=True), [0, 2], True),
        call(t(3), [0])),
    row("amin", reduced(np.min), call(t(2, 3, distinct=True)), call(t(2, 3, 2, distinct=True), [0, 2], True),
        call(t(3), [0])),
    row("argmax", argument(np.argmax), call(t(2, 3, distinct=True)), call(t(2, 3, distinct=True), 1, True),
        dtypes=NUMBERS, result=LONG, differentiable=False),
    row("argmin", argument(np.argmin), call(t(2, 3, distinct=True)), call(t(2, 3, distinct=True), 0), dtypes=NUMBERS,
        result=LONG, differentiable=False),
    *(row(f"{name}{overload}", reduced(function), *calls, differentiable=False,
          result=lambda dtypes: dtypes[0] if dtypes[0].name == "uint8" else BOOL(dtypes))
      for name, function in {"all": np.all, "any": np.any}.items()
      for overload, calls in {
          "": (call(t(2, 3, low=0, high=1)), call(t(0))),
          ".dim": (call(t(2, 3, low=0, high=1), 1), call(t(2, 3, low=0, high=1), 0, True)),
          ".dims": (call(t(2, 3, low=0, high=1), [0, 1]), call(t(2, 3, low=0, high=1), None, True)),
      }.items()),
    # Matrix products
    row("mm", np.matmul, call(t(2, 3), t(3, 4)), call(t(2, 3, layout="transposed"), t(3, 2, layout="transposed")),
        call(t(2, 0), t(0, 3)), call(t(2, 3, layout="stepped"), t(3, 1)), dtypes=NUMBERS),
    row("bmm", np.matmul, call(t(2, 2, 3), t(2, 3, 4)), call(t(2, 2, 0), t(2, 0, 3)), dtypes=NUMBERS),
    row("mv", np.matmul, call(t(2, 3), t(3)), call(t(3, 2, layout="transposed"), t(2)), dtypes=NUMBERS),
    row("dot", np.dot, call(t(3), t(3)), call(t(0), t(0)), call(t(3, layout="stepped"), t(3)), dtypes=NUMBERS),
    row("addmm", addmm, call(t(2, 4), t(2, 3), t(3, 4)), call(t(4), t(2, 3), t(3, 4), beta=2, alpha=3),
        call(t(2, 2), t(2, 0), t(0, 2)), dtypes=NUMBERS),
    row("matmul", np.matmul, call(t(3), t(3)), call(t(2, 3), t(3)), call(t(3), t(3, 2)), call(t(2, 3), t(3, 4)),
        call(t(2, 1, 2, 3), t(2, 3, 4)), call(t(2, 2, 3), t(3)), call(t(2, 2, 3), t(3, 4)), dtypes=NUMBERS),
    row("linear", linear, call(t(2, 3), t(4, 3), t(4)), call(t(2, 3), t(4, 3)), call(t(2, 2, 3), t(4, 3), t(4)),
        call(t(3), t(4, 3), t(4)), dtypes=FLOATS),
    # Views
    row("alias", lambda x: x, *ONE),
    row("detach", lambda x: x, *ONE, differentiable=False),
    row("view", np.reshape, call(t(2, 3), [3, -1]), call(t(2, 3), [2, 1, 3]), call(t(2, 0), [0, 5])),
    row("_unsafe_view", np.reshape, call(t(2, 3), [3, 2])),
    row("reshape", np.reshape, call(t(2, 3), [3, 2]), call(t(3, 2, layout="transposed"), [6]), call(t(2, 1), [-1])),
    row("_reshape_alias", lambda x, size, stride: x.reshape(size), call(t(2, 3), [3, 2], [2, 1])),
    row("view_as", lambda x, y: x.reshape(y.shape), call(t(2, 3), t(6, grad=False))),
    row("reshape_as", lambda x, y: x.reshape(y.shape), call(t(3, 2, layout="transposed"), t(6, grad=False))),
    row("flatten.using_ints",
        lambda x, start=0, end=-1: x.reshape(*x.shape[:start], -1, *x.shape[x.ndim + end + 1 :]), call(t(2, 3, 2)),
        call(t(2, 3, 2), 1), call(t(2, 3, 2), 0, -2)),
    row("transpose.int", np.swapaxes, call(t(2, 3), 0, 1), call(t(2, 3, 4), -1, 0), call(t(2, 3), 1, 1)),
    row("t", lambda x: x.T, call(t(2, 3)), call(t(3)), call(t())),
    row("numpy_T", lambda x: x.T, call(t(2, 3))),
    row("mT", lambda x: np.swapaxes(x, -1, -2), call(t(2, 2, 3))),
    row("permute", np.transpose, call(t(2, 3, 4), [2, 0, 1]), call(t(2, 3), [-1, 0])),
    row("movedim.intlist", np.moveaxis, call(t(2, 3, 4), [0, 1], [2, 0])),
    row("movedim.int", np.moveaxis, call(t(2, 3, 4), 0, -1)),
    row("expand", expand, call(t(2, 1), [2, 3]), call(t(3), [2, -1]), call(t(), [2])),
    row("expand_as", lambda x, y: np.broadcast_to(x, y.shape), call(t(2, 1), t(2, 3, grad=False))),
    row("squeeze", np.squeeze, call(t(1, 2, 1)), call(t(2))),
    row("squeeze.dim", lambda x, dim: np.squeeze(x, dim) if x.shape[dim] == 1 else x, call(t(1, 2), 0),
        call(t(1, 2), 1)),
    row("squeeze.dims", lambda x, dims: np.squeeze(x, tuple(d for d in dims if x.shape[d] == 1)),
        call(t(1, 2, 1), [0, 1, -1])),
    row("unsqueeze", np.expand_dims, call(t(2, 3), 1), call(t(2), -1), call(t(), 0)),
    row("select.int", lambda x, dim, i: np.take(x, i, dim), call(t(2, 3), 1, 2), call(t(2, 3), 0, -1)),
    row("slice.Tensor",
        lambda x, dim=0, start=None, end=None, step=1: np.moveaxis(np.moveaxis(x, dim, 0)[start:end:step], 0, dim),
        call(t(4, 3), 0, 1, 3), call(t(4, 3), 1, None, None, 2), call(t(4), 0, -2), call(t(4), 0, 3, 1),
        call(t(4), 0, 0, 99)),
    row("narrow", lambda x, dim, start, length: np.take(x, range(start, start + length), dim),
        call(t(4, 3), 0, 1, 2)),
    row("narrow.Tensor", lambda x, dim, start, length: np.take(x, range(int(start), int(start) + length), dim),
        call(t(4, 3), 0, index(below=2), 2), meta=False),
    row("diagonal", np.diagonal, call(t(3, 3)), call(t(3, 4), 1), call(t(2, 3, 4), -1, 0, 2)),
    row("unfold", unfold, call(t(5), 0, 2, 1), call(t(2, 5), 1, 3, 2)),
    row("unbind.int", lambda x, dim=0: [np.take(x, i, dim) for i in range(x.shape[dim])], call(t(2, 3)),
        call(t(2, 3), 1)),
    row("split.Tensor", pieces, call(t(5, 2), 2), call(t(2, 4), 2, 1)),
    row("chunk", lambda x, n, dim=0: pieces(x, -(-x.shape[dim] // n), dim), call(t(5, 2), 2), call(t(2, 4), 2, 1)),
    row("as_strided", as_strided, call(t(6), [2, 2], [3, 1]), call(t(6), [2, 3], [1, 1], 1), call(t(2, 3), [2], [0])),
    row("select_backward", lambda g, shape, dim, i: placed(shape, (slice(None),) * dim + (i,), g),
        call(t(2), [2, 3], 1, 2), dtypes=FLOATS),
    row("slice_backward",
        lambda g, shape, dim, start, end, step: placed(shape, (slice(None),) * dim + (slice(start, end, step),), g),
        call(t(2, 2), [2, 5], 1, 1, 5, 2), dtypes=FLOATS),
    row("_as_strided_backward", as_strided_backward, call(t(2, 3), [6], [1], 0, [2, 3], [1, 1], 1), dtypes=FLOATS,
        in_torch=False),
    # Views in place: another geometry of the same elements
    row("transpose_", np.swapaxes, call(t(2, 3), 0, 1)),
    row("t_", np.transpose, call(t(2, 3))),
    row("squeeze_", np.squeeze, call(t(1, 2, 1))),
    row("squeeze_.dim", np.squeeze, call(t(1, 2), 0)),
    row("squeeze_.dims", lambda x, dims: np.squeeze(x, tuple(dims)), call(t(1, 2, 1), [0, 2])),
    row("unsqueeze_", np.expand_dims, call(t(2, 3), 1)),
    row("as_strided_", as_strided, call(t(6), [2, 2], [3, 1])),
    # Joining, indexing
    row("cat", lambda xs, dim=0: np.concatenate(xs, dim), call([t(2, 3), t(1, 3)]), call([t(2, 3), t(2, 1)], 1),
        call([t(2), t(0)]), call([t(2), t(2, dtype="float64")], dtypes=FLOATS_AND_INTEGERS), result=PROMOTED),
    row("stack", lambda xs, dim=0: np.stack(xs, dim), call([t(2, 3), t(2, 3)]), call([t(2), t(2)], -1)),
    row("flip", lambda x, dims: np.flip(x, dims) if x.ndim else x, call(t(2, 3), [0]), call(t(2, 3, 2), [0, -1]),
        call(t(3, 2, layout="transposed"), [1]), call(t(2, 3, layout="expanded"), [0]), call(t(0, 3), [1]),
        call(t(2, 3), []), call(t(), [0])),
    row("roll", lambda x, shifts, dims=(): np.roll(x, shifts, dims or None), call(t(2, 3), [1]),
        call(t(2, 3), [-4], [1]), call(t(2, 3), [1, 2], [0, -1]), call(t(3, 2, layout="transposed"), [1], [0]),
        call(t(0, 3), [1], [0]), call(t(), [1]), call(t(2, 3), [1, 1], [0, 0])),
    row("index.Tensor", lambda x, indices: x[tuple(slice(None) if i is None else i for i in indices)],
        call(t(3, 4), [index(2, below=3)]), call(t(3, 4), [None, index(2, 2, below=4)]),
        call(t(3, 4), [index(2, 1, below=3), index(3, below=4)]),
        call(t(2, 3, 4), [index(2, below=2), None, index(2, below=4)])),
    row("index_put", index_put, call(t(3, 4), [index(1, below=3)], t(4)),
        call(t(3, 4), [None, index(1, below=4)], t(3, 1)), call(t(5), [index(6, below=5)], t(6), True),
        dtypes=NUMBERS),
    row("index_put_", index_put, call(t(3, 4), [index(1, below=3)], t(4)),
        call(t(5), [index(6, below=5)], t(6), True), dtypes=NUMBERS),
    row("gather", gather, call(t(3, 4), 0, index(2, 4, below=3)), call(t(3, 4), 1, index(2, 5, below=4))),
    row("scatter.src", scatter, call(t(4, 3), 0, index(1, 3, below=4), t(1, 3)),
        call(t(3, 4), 1, index(3, 1, below=4), t(3, 1))),
    row("scatter.value", scatter, call(t(4, 3), 0, index(2, 3, below=4), 1)),
    row("scatter_add", scatter_add, call(t(4, 3), 0, index(3, 3, below=4), t(3, 3)),
        call(t(3, 4), 1, index(2, 3, below=4), t(2, 3)), dtypes=NUMBERS),
    row("index_select", lambda x, dim, i: np.take(x, i, dim) if x.ndim else x, call(t(3, 4), 0, index(5, below=3)),
        call(t(3, 4), 1, index(2, below=4)), call(t(), 0, index(1, below=1))),
    row("nonzero", lambda x: np.stack(np.nonzero(x), 1), call(t(2, 3, low=0, high=1)), result=LONG,
        differentiable=False, meta=False),
    # Copies and conversions
    row("clone", lambda x: x, *ONE),
    row("contiguous", lambda x: x, *ONE),
    row("copy_", lambda x, y: np.broadcast_to(y, x.shape), call(t(2, 3), t(2, 3)), call(t(2, 3), t(3)),
        call(t(3, 2, layout="transposed"), t(3, 2)), call(t(2, 3), t(2, 3, dtype="int64"))),
    row("_to_copy", lambda x, **_: x, call(t(2, 3), dtype=Dtype("float64")),
        call(t(3, 2, layout="transposed"), dtype=Dtype("float64")), result=always("float64")),
    row("to.dtype", lambda x, *_: x, call(t(2, 3), Dtype("float64")), result=always("float64")),
    row("to.device", lambda x, *_: x, call(t(2, 3), Device("cpu"), Dtype("float64")), result=always("float64"),
        meta=False),
    row("to.other", lambda x, *_: x, call(t(2, 3), t(1, dtype="float64", grad=False)), result=always("float64")),
    row("to.dtype_layout", lambda x, **_: x, call(t(2, 3), dtype=Dtype("float64")), result=always("float64")),
    row("type_as", lambda x, y: x, call(t(2, 3), t(1, dtype="float64", grad=False)), result=always("float64")),
    row("fill.Scalar", np.full_like, call(t(2, 3), 1), call(t(3, 2, layout="transposed"), 1)),
    row("fill.Tensor", lambda x, y: np.full_like(x, y), call(t(2, 3), t())),
    row("fill_.Scalar", np.full_like, call(t(2, 3), 1), call(t(2, 3, layout="stepped"), 0)),
    row("fill_.Tensor", lambda x, y: np.full_like(x, y), call(t(2, 3), t())),
    row("zero_", np.zeros_like, *ONE),
    row("item", lambda x: x.item(), call(t()), call(t(1, 1)), differentiable=False, meta=False),
    row("_local_scalar_dense", lambda x: x.item(), call(t()), differentiable=False, meta=False),
    # Neural networks
    row("_softmax", softmax, call(t(2, 3), 1, False), call(t(2, 3), 0, False), dtypes=FLOATS),
    row("softmax.int", softmax, call(t(2, 3), -1), call(t(2, 3), 0, Dtype("float64"), result=always("float64")),
        dtypes=FLOATS),
    row("_softmax_backward_data", softmax_backward,
        call(t(2, 3, dtype="float64"), t(2, 3, dtype="float64", low=0), 1, Dtype("float64")), dtypes=("float64",)),
    row("_log_softmax", log_softmax, call(t(2, 3), 1, False), call(t(2, 3), 0, False), dtypes=FLOATS),
    row("log_softmax.int", log_softmax, call(t(2, 3), -1), dtypes=FLOATS),
    row("_log_softmax_backward_data", log_softmax_backward,
        call(t(2, 3, dtype="float64"), t(2, 3, dtype="float64"), 1, Dtype("float64")), dtypes=("float64",)),
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
    # Families in files of their own
    *rows_creation.ROWS,
    *rows_elementary.ROWS,
    *rows_factors.ROWS,
    *rows_indexing.ROWS,
    *rows_linalg.ROWS,
    *rows_pointwise.ROWS,
    *rows_moments.ROWS,
    *rows_ordering.ROWS,
    *rows_products.ROWS,
    *rows_shaping.ROWS,
    *rows_special.ROWS,
    *rows_statistics.ROWS,
    *rows_views.ROWS,
)  # fmt: skip

ROWS: tuple[Row, ...] = (*OWN, *rows_aliases.rows_of_aliases(OWN))
