"""What do the operators of the family indexing compute?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.samples import LONG, NUMBERS, Row, T, call, index, mask, row, t

Array = np.ndarray[Any, Any]
ORDERED = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8")
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "sum": lambda a, b: a + b,
    "prod": lambda a, b: a * b,
    "mean": lambda a, b: a + b,
    "amax": np.maximum,
    "amin": np.minimum,
}


def each(*shape: int) -> T:
    """Indices, none of which comes twice."""
    return t(*shape, dtype="int64", distinct=True, grad=False)


def at(place: tuple[int, ...], dim: int, target: int) -> tuple[int, ...]:
    return (*place[:dim], target, *place[dim + 1 :])


def reduced_at(x: Array, dim: int, places: Array, source: Any, reduce: str, include_self: bool = True) -> Array:
    """One place after the other."""
    result, places = np.atleast_1d(x.copy()), np.atleast_1d(places)
    counts, dim = np.full(result.shape, int(include_self)), dim % result.ndim
    source = np.broadcast_to(source, places.shape) if np.ndim(source) == 0 else source
    for place in np.ndindex(places.shape):
        target = at(place, dim, int(places[place]))
        first = counts[target] == 0
        result[target] = source[place] if first else STEPS[reduce](result[target], source[place])
        counts[target] += 1
    if reduce == "mean":
        counts = np.maximum(counts, 1)
        result = result // counts if result.dtype.kind in "iu" else result / counts
    return result.reshape(x.shape)


def scatter_reduce(x: Array, dim: int, places: Array, src: Any, reduce: str) -> Array:
    return reduced_at(x, dim, places, src, reduce)


def scatter_reduce_two(x: Array, dim: int, places: Array, src: Array, reduce: str, include_self: bool = True) -> Array:
    return reduced_at(x, dim, places, src, reduce, include_self)


def spread(places: Array, dim: int, source: Array) -> Array:
    """A vector of indices as an index for each element of the source."""
    return np.broadcast_to(places.reshape(-1, *[1] * (source.ndim - 1 - dim)), source.shape) if source.ndim else places


def index_add(x: Array, dim: int, places: Array, source: Array, alpha: float = 1) -> Array:
    return reduced_at(x, dim, spread(places, dim, source), source * np.asarray(alpha, source.dtype), "sum")


def index_reduce(x: Array, dim: int, places: Array, source: Array, reduce: str, include_self: bool = True) -> Array:
    return reduced_at(x, dim, spread(places, dim, source), source, reduce, include_self)


def index_copy(x: Array, dim: int, places: Array, source: Array) -> Array:
    result = np.atleast_1d(x.copy())
    result[(slice(None),) * dim + (places,)] = source
    return result.reshape(x.shape)


def index_fill(x: Array, dim: int, places: Array, value: Any) -> Array:
    result = np.atleast_1d(x.copy())
    result[(slice(None),) * dim + (places,)] = value
    return result.reshape(x.shape)


def put(x: Array, places: Array, source: Array, accumulate: bool = False) -> Array:
    flat = x.flatten()
    for place, value in zip(places.reshape(-1), source.reshape(-1), strict=True):
        flat[place] = flat[place] + value if accumulate else value
    return flat.reshape(x.shape)


def masked_scatter(x: Array, where: Array, source: Array) -> Array:
    where = where.astype(bool)
    result = np.broadcast_to(x, np.broadcast_shapes(x.shape, where.shape)).copy()
    chosen = np.broadcast_to(where, result.shape)
    result[chosen] = source.reshape(-1)[: chosen.sum()]
    return result


def masked_scatter_backward(grad: Array, where: Array, sizes: list[int]) -> Array:
    picked = grad[np.broadcast_to(where, grad.shape).astype(bool)]
    return np.concatenate([picked, np.zeros(int(np.prod(sizes)) - picked.size, grad.dtype)]).reshape(sizes)


def nonzero_static(x: Array, size: int, fill_value: int = -1) -> Array:
    found = np.argwhere(x)[:size]
    return np.concatenate([found, np.full((size - len(found), x.ndim), fill_value)])


def selected(x: Array, where: Array) -> Array:
    x, where = np.broadcast_arrays(x, where)
    return x[where.astype(bool)]


def taken(x: Array, places: Array, dim: int | None = None) -> Array:
    return np.take(x, places) if dim is None else np.take_along_axis(x, places, dim)


def masked_index(x: Array, mask: Array, indices: list[Any], fill: float) -> Array:
    return np.where(mask, x[tuple(slice(None) if i is None else i for i in indices)], np.asarray(fill, x.dtype))


def masked_index_put(x: Array, mask: Array, indices: list[Any], values: Array) -> Array:
    return index_put(x, indices, np.where(mask, values, np.zeros_like(values)), True)


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


ROWS: tuple[Row, ...] = (
    row("scatter.reduce", scatter_reduce, call(t(4, 3), 0, index(3, 3, below=4), t(3, 3), reduce="add"),
        call(t(4, 3), 1, index(2, 5, below=3), t(3, 5), reduce="multiply"),
        call(t(3, 2, layout="transposed"), 0, index(3, 2, below=3), t(3, 2), reduce="add"), differentiable=False),
    row("scatter.value_reduce", scatter_reduce, call(t(4, 3), 0, index(3, 3, below=4), 2, reduce="add"),
        call(t(4, 3), 1, index(2, 5, below=3), 2, reduce="multiply"), differentiable=False),
    row("scatter_reduce.two", scatter_reduce_two,
        *(call(t(4, 3), 0, index(3, 3, below=4), t(3, 3, distinct=True), name, include_self=include)
          for name in ("sum", "prod", "mean", "amax", "amin") for include in (True, False)),
        call(t(3, 2, layout="transposed"), -1, index(3, 4, below=2), t(3, 4), "sum"),
        call(t(), 0, index(below=1), t(), "mean"), dtypes=ORDERED, tolerance=8),
    row("index_add", index_add, call(t(4, 3), 0, index(5, below=4), t(5, 3)),
        call(t(2, 3), 1, index(4, below=3), t(2, 4), alpha=2), call(t(3), 0, index(2, below=3), t(2)),
        call(t(), 0, index(1, below=1), t()), call(t(3, 2, layout="transposed"), 1, index(3, below=2), t(3, 3)),
        call(t(3, 30), 0, index(7, below=3), t(7, 30)), call(t(3, 30), 0, each(3), t(3, 30))),
    row("index_reduce", index_reduce,
        *(call(t(3, 2), 0, index(4, below=3), t(4, 2, distinct=True), name, include_self=include)
          for name in ("prod", "mean", "amax", "amin") for include in (True, False)),
        call(t(2, 3, 2), 1, index(4, below=3), t(2, 4, 2), "prod"), call(t(3), 0, index(4, below=3), t(4), "mean"),
        dtypes=ORDERED, tolerance=8),
    row("index_copy", index_copy, call(t(4, 3), 0, each(3), t(3, 3)), call(t(2, 3), 1, each(2), t(2, 2)),
        call(t(3), 0, index(1, below=3), t(1)), call(t(), 0, index(1, below=1), t()),
        call(t(3, 2, layout="transposed"), 1, each(2), t(3, 2)), call(t(3, 2), 0, index(0, below=1), t(0, 2))),
    row("index_fill.int_Scalar", index_fill, call(t(4, 3), 0, index(2, below=4), 1),
        call(t(2, 3), 1, index(below=3), 0), call(t(), 0, index(1, below=1), 1),
        call(t(3, 2, layout="transposed"), 0, index(2, below=3), 1)),
    row("index_fill.int_Tensor", index_fill, call(t(4, 3), 0, each(2), t()), call(t(2, 3), 1, index(2, below=3), t()),
        call(t(3), 0, index(3, below=2), t()), meta=False, cuda=False),
    row("put", put, call(t(3, 4), each(2, 3), t(2, 3)), call(t(3, 4), index(2, 3, below=12), t(6), True),
        call(t(3, 2, layout="transposed"), each(4), t(2, 2)), call(t(3), index(0, below=1), t(0))),
    row("masked_scatter", masked_scatter, call(t(2, 3), mask(2, 3), t(6)), call(t(3), mask(2, 3), t(2, 4)),
        call(t(2, 3), mask(3), t(7)), call(t(3, 2, layout="transposed"), mask(3, 2), t(6))),
    row("masked_scatter_backward", masked_scatter_backward, call(t(2, 3), mask(2, 3), [7]),
        call(t(2, 3), mask(2, 3), [2, 4]), meta=False, cuda=False),
    row("nonzero_static", nonzero_static, call(t(2, 3, low=0, high=1), size=4), call(t(2, 3), size=2),
        call(t(3, low=0, high=1), size=5, fill_value=7), call(t(), size=2), call(t(0, 2), size=1),
        result=LONG, differentiable=False),
    # Picked
    row("masked_select", selected, call(t(2, 3), mask(2, 3)), call(t(3), mask(2, 3)), call(t(2, 3), mask(3)),
        call(t(3, 2, layout="transposed"), mask(3, 2)), meta=False),
    row("argwhere", np.argwhere, call(t(2, 3, low=0, high=1)), call(t()), result=LONG, differentiable=False,
        meta=False),
    row("nonzero_numpy", lambda x: list(np.nonzero(np.atleast_1d(x))), call(t(2, 3, low=0, high=1)), call(t()),
        result=LONG, differentiable=False, meta=False),
    # Picking and repeating
    row("take", np.take, call(t(2, 3), index(4, below=6)), call(t(3, 2, layout="transposed"), index(2, 2, below=6)),
        meta=False),
    row("take_along_dim", taken, call(t(2, 3), index(2, 2, below=3), 1), call(t(2, 3), index(4, below=6)),
        call(t(2, 3), index(1, 3, below=2), 0)),
    row("where", lambda condition: list(np.nonzero(condition)), call(mask(2, 3)), dtypes=("bool",), result=LONG,
        differentiable=False, meta=False),
    row("index.Tensor", lambda x, indices: x[tuple(slice(None) if i is None else i for i in indices)],
        call(t(3, 4), [index(2, below=3)]), call(t(3, 4), [None, index(2, 2, below=4)]),
        call(t(3, 4), [index(2, 1, below=3), index(3, below=4)]),
        call(t(2, 3, 4), [index(2, below=2), None, index(2, below=4)])),
    row("index_put", index_put, call(t(3, 4), [index(1, below=3)], t(4)),
        call(t(3, 4), [None, index(1, below=4)], t(3, 1)), call(t(5), [index(6, below=5)], t(6), True),
        dtypes=NUMBERS),
    row("index_put_", index_put, call(t(3, 4), [index(1, below=3)], t(4)),
        call(t(5), [index(6, below=5)], t(6), True), dtypes=NUMBERS),
    row("_unsafe_masked_index", masked_index,
        call(t(3, 4), t(5, dtype="bool"), [index(5, below=3), index(5, below=4)], 2),
        call(t(3, 4), t(2, 4, dtype="bool"), [index(2, below=3), None], 1), dtypes=NUMBERS),
    row("_unsafe_masked_index_put_accumulate", masked_index_put,
        call(t(3, 4), t(5, dtype="bool"), [index(5, below=3), index(5, below=4)], t(5)), dtypes=NUMBERS),
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
)  # fmt: skip
