"""Programs about sparse tensors, drawn by a seed: a few steps on a few tensors, and then a gradient."""

from __future__ import annotations

import random
import warnings
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What a program computed: the elements of its result and of its gradients, or the class of its error."""

    elements: list[float]
    facts: list[Any]
    error: str


def run(library: Any, seed: int) -> Answer:
    """The program of a seed in a library."""
    elements: list[float] = []
    facts: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _run(library, random.Random(seed), elements, facts)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            kind = next(c for c in type(error).__mro__ if c.__module__ == "builtins")
            return Answer(elements, facts, kind.__name__)
    return Answer(elements, facts, "")


def _run(library: Any, draw: random.Random, elements: list[float], facts: list[Any]) -> None:
    rows, columns = draw.randint(1, 4), draw.randint(1, 4)
    leaf = _made(library, draw, rows, columns).requires_grad_()
    x = leaf
    for _ in range(draw.randint(1, 4)):
        x = _step(library, draw, x)
        _note(x, elements, facts)
        if not x.is_sparse:
            break
    dense = x.to_dense() if x.is_sparse else x
    weights = library.arange(1.0, dense.numel() + 1, dtype=library.float64).reshape(dense.shape)
    (dense * weights).sum().backward()
    _note(leaf.grad, elements, facts)


def _made(library: Any, draw: random.Random, rows: int, columns: int) -> Any:
    """A matrix with up to eight elements, some of which may be in the same place."""
    count = draw.randint(0, 8)
    indices = [[draw.randrange(size) for _ in range(count)] for size in (rows, columns)]
    values = [float(draw.randint(-4, 4)) or 0.5 for _ in range(count)]
    made = library.sparse_coo_tensor(
        library.tensor(indices, dtype=library.int64).reshape(2, count),
        library.tensor(values, dtype=library.float64),
        (rows, columns),
        check_invariants=True,
    )
    return made.coalesce() if draw.random() < 0.7 else made


def _dense(library: Any, draw: random.Random, rows: int, columns: int) -> Any:
    values = [[float(draw.randint(-3, 3)) for _ in range(columns)] for _ in range(rows)]
    return library.tensor(values, dtype=library.float64).reshape(rows, columns)


def _step(library: Any, draw: random.Random, x: Any) -> Any:
    rows, columns = (*x.shape, 1, 1)[:2]
    kind = draw.choice(
        [
            "coalesce",
            "scale",
            "negate",
            "divide",
            "add",
            "subtract",
            "times_dense",
            "times_sparse",
            "mm",
            "mm_sparse",
            "addmm",
            "transpose",
            "relu",
            "abs",
            "sum_rows",
            "softmax",
            "log_softmax",
            "select",
            "sum",
            "to_dense",
            "add_to_dense",
            "mask",
            "clone",
            "detour",
            "mv",
            "square",
        ]
    )
    match kind:
        case "coalesce":
            return x.coalesce()
        case "scale":
            return x * draw.choice([2, -1.5, 0.25])
        case "negate":
            return -x
        case "divide":
            return x / draw.choice([2, -4])
        case "add":
            return x + _made(library, draw, rows, columns)
        case "subtract":
            return x - _made(library, draw, rows, columns) * 2
        case "times_dense":
            return x * _dense(library, draw, rows, columns)
        case "times_sparse":
            return x.coalesce() * _made(library, draw, rows, columns).coalesce()
        case "mm":
            return library.sparse.mm(x, _dense(library, draw, columns, draw.randint(1, 3)))
        case "mm_sparse":
            return library.sparse.mm(x, _made(library, draw, columns, draw.randint(1, 3)))
        case "addmm":
            width = draw.randint(1, 3)
            start = _dense(library, draw, rows, width)
            return library.sparse.addmm(start, x, _dense(library, draw, columns, width), beta=2, alpha=0.5)
        case "transpose":
            return x.t()
        case "relu":
            return x.relu()
        case "abs":
            return x.abs()
        case "sum_rows":
            return library.sparse.sum(x, draw.choice([0, 1, [0, 1]]))
        case "softmax":
            return library.sparse.softmax(x, draw.choice([0, 1, 2]))
        case "log_softmax":
            return library.sparse.log_softmax(x, draw.choice([0, 1]))
        case "select":
            return x[draw.randrange(rows + 1)]
        case "sum":
            return x.sum()
        case "to_dense":
            return x.to_dense()
        case "add_to_dense":
            return _dense(library, draw, rows, columns) + x
        case "mask":
            return x.sparse_mask(_made(library, draw, rows, columns).coalesce())
        case "clone":
            return x.clone()
        case "detour":
            return x.to_dense().to_sparse(draw.randint(1, 2))
        case "mv":
            return library.mv(x, _dense(library, draw, columns, 1).reshape(columns))
        case _:
            return x**2


def _note(x: Any, elements: list[float], facts: list[Any]) -> None:
    if x is None:
        facts.append(None)
        return
    facts.append((str(x.layout), tuple(x.shape), str(x.dtype)))
    x = x.detach()
    elements += (x.to_dense() if x.is_sparse else x).reshape((-1,)).tolist()
