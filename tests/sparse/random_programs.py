"""Programs about sparse tensors, drawn by a seed: a few steps on a few tensors, and then a gradient."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What a program computed: the elements of its result and of its gradients, or the class of its error."""

    elements: list[float]
    facts: list[Any]
    error: str


def run(library: Any, seed: int, program: Callable[..., None] | None = None) -> Answer:
    """The program of a seed in a library; of COO tensors unless another kind is given."""
    elements: list[float] = []
    facts: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            (program or _run)(library, random.Random(seed), elements, facts)
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
    elements += (x if str(x.layout) == "torch.strided" else x.to_dense()).reshape((-1,)).tolist()


# Of the compressed layouts ------------------------------------------------------------------------------------------


def run_compressed(library: Any, draw: random.Random, elements: list[float], facts: list[Any]) -> None:
    """A program about tensors of the compressed layouts, which may become COO or strided ones on the way."""
    rows, columns = draw.randint(1, 2) * 2, draw.randint(1, 2) * 2
    leaf = _sprinkled(library, draw, rows, columns).requires_grad_()
    x = _as_drawn(library, draw, leaf)  # the leaf is strided: PyTorch keeps no gradient of another layout than CSR
    for _ in range(draw.randint(1, 4)):
        x = _compressed_step(library, draw, x)
        _note(x, elements, facts)
        if str(x.layout) == "torch.strided":
            break
    dense = x if str(x.layout) == "torch.strided" else x.to_dense()
    weights = library.arange(1.0, dense.numel() + 1, dtype=library.float64).reshape(dense.shape)
    (dense * weights).sum().backward()
    _note(leaf.grad, elements, facts)


def _sprinkled(library: Any, draw: random.Random, rows: int, columns: int) -> Any:
    """A strided matrix about half of whose elements are 0."""
    values = [[float(draw.choice([0, 0, 0, 1, -2, 3, 0.5])) for _ in range(columns)] for _ in range(rows)]
    return library.tensor(values, dtype=library.float64).reshape(rows, columns)


def _as_drawn(library: Any, draw: random.Random, x: Any) -> Any:
    """A tensor in a compressed layout that is drawn, CSR more often than the others."""
    name = draw.choice(["csr", "csr", "csr", "csc", "bsr", "bsc"])
    # PyTorch multiplies square blocks only; the last ones do not fit.
    blocksize = draw.choice([(1, 1), (2, 2), (2, 2), (3, 2)]) if name.startswith("b") else None
    return x.to_sparse(layout=getattr(library, f"sparse_{name}"), blocksize=blocksize)


def _compressed_step(library: Any, draw: random.Random, x: Any) -> Any:
    rows, columns = (*x.shape, 1, 1)[:2]
    kinds = "convert convert scale negate abs relu clone times_dense times_same plus_same mm addmm mv mm_sparse"
    kinds += " transpose transpose select entry sum sum_rows sampled detour to_dense plus_dense left values"
    match draw.choice(kinds.split()):
        case "convert":
            return _as_drawn(library, draw, x)
        case "scale":
            return x * draw.choice([2, -1.5, 0.25])
        case "negate":
            return -x
        case "abs":
            return x.abs()
        case "relu":
            return x.relu()
        case "clone":
            return x.clone()
        case "times_dense":
            return x * _dense(library, draw, rows, columns)
        case "times_same":
            return x * _sprinkled(library, draw, rows, columns).to_sparse_csr()
        case "plus_same":
            return x + _sprinkled(library, draw, rows, columns).to_sparse_csr()
        case "mm":
            return x @ _dense(library, draw, columns, draw.randint(1, 3))
        case "addmm":
            width = draw.randint(1, 3)
            start = _dense(library, draw, rows, width)
            return library.addmm(start, x, _dense(library, draw, columns, width), beta=2, alpha=0.5)
        case "mv":
            return library.mv(x, _dense(library, draw, columns, 1).reshape(columns))
        case "mm_sparse":
            return x @ _sprinkled(library, draw, columns, draw.randint(1, 3)).to_sparse_csc()
        case "transpose":
            return x.transpose(0, 1)
        case "select":
            return x.select(draw.randint(0, 1), draw.randint(0, 4))
        case "entry":
            return x[draw.randrange(rows), draw.randrange(columns)]
        case "sum":
            return x.sum()
        case "sum_rows":
            return x.sum(draw.choice([0, 1, (0, 1)]), keepdim=draw.random() < 0.8)
        case "sampled":
            inner = draw.randint(1, 3)
            factors = _dense(library, draw, rows, inner), _dense(library, draw, inner, columns)
            return library.sparse.sampled_addmm(x, *factors, beta=0.5, alpha=2)
        case "detour":
            return x.to_sparse().to_sparse_csr()
        case "to_dense":
            return x.to_dense()
        case "plus_dense":
            return x + _dense(library, draw, rows, columns)
        case "left":
            return _dense(library, draw, draw.randint(1, 3), rows) @ x
        case _:
            return x.values()
