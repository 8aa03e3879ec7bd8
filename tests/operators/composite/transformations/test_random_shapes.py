"""Do joining, turning, repeating, padding and cutting at random end as in PyTorch?

Each case is drawn from a seed: tensors of any sizes, strides and dtypes, an operator, and arguments that may or may not
fit. Elements, strides, dtype and the builtin class of an error are compared, and the tensor given as out=.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.refusals import builtin

DTYPES = ("float32", "float32", "float64", "int64", "uint8", "bool", "bfloat16", "complex64", "int8")
SIZES = (0, 1, 1, 2, 2, 3)

Spec = tuple[tuple[int, ...], tuple[int, ...], int, str]  # sizes, strides, offset, dtype


class Case:
    """An operator and its arguments, as plain data that either library can be given."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.name = self.random.choice(list(MAKERS))
        self.args, self.kwargs = MAKERS[self.name](self)
        self.out: Spec | None = None
        if self.name in WITH_OUT and self.random.random() < 0.3:
            self.out = self.tensor(dtype=self.random.choice(("float32", "float32", "float64", "int64", "complex64")))

    def __repr__(self) -> str:
        return f"{self.name} {self.args} {self.kwargs} out={self.out}"

    def shape(self, ndim: int | None = None) -> tuple[int, ...]:
        ndim = self.random.choice((0, 1, 1, 2, 2, 2, 3, 4)) if ndim is None else ndim
        return tuple(self.random.choice(SIZES) for _ in range(ndim))

    def tensor(self, shape: tuple[int, ...] | None = None, dtype: str | None = None) -> Spec:
        shape = self.shape() if shape is None else shape
        order = list(range(len(shape)))
        draw = self.random.random()
        if draw < 0.3:
            self.random.shuffle(order)
        elif draw < 0.6 and len(shape) == 4:
            order = [0, 2, 3, 1]  # channels last
        strides, step = [0] * len(shape), self.random.choice((1, 1, 1, 1, 2))
        for dim in reversed(order):
            strides[dim] = step
            step *= max(shape[dim], 1)
        if shape and self.random.random() < 0.05:
            strides[self.random.randrange(len(shape))] = 0
        return shape, tuple(strides), self.random.choice((0, 0, 2)), dtype or self.random.choice(DTYPES)

    def dim(self, ndim: int) -> int:
        """A dimension; now and then one that is not there."""
        limit = max(ndim, 1)
        return self.random.randint(-limit, limit - 1) if self.random.random() < 0.95 else limit + 1

    def joined(self) -> list[Spec]:
        """Tensors that differ in one dimension, or somewhere else too."""
        shape = list(self.shape())
        dtype = self.random.choice(DTYPES)
        specs = []
        at = self.random.randrange(len(shape)) if shape else 0
        for _ in range(self.random.randint(1, 3)):
            own = list(shape)
            if shape and self.random.random() < 0.5:
                own[at if self.random.random() < 0.8 else self.random.randrange(len(shape))] = self.random.choice(SIZES)
            if self.random.random() < 0.1:
                own = [0]
            specs.append(self.tensor(tuple(own), dtype if self.random.random() < 0.7 else None))
        return specs

    def run(self, library: Any) -> Any:
        """What can be seen of the case in one library."""
        given = [_made(library, argument) for argument in self.args]
        named = dict(self.kwargs)
        if self.out is not None:
            named["out"] = _made(library, self.out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                results = (METHODS.get(self.name) or getattr(library, self.name))(*given, **named)
            except (IndexError, RuntimeError, TypeError, ValueError) as error:
                return builtin(error)
        several = results if isinstance(results, tuple | list) else (results,)
        return [(r.tolist(), tuple(r.shape), str(r.dtype), tuple(r.stride())) for r in several]


def _made(library: Any, argument: Any) -> Any:
    """A tensor where a description of one stands."""
    if isinstance(argument, list) and argument and isinstance(argument[0], tuple):
        return [_made(library, spec) for spec in argument]
    if not (isinstance(argument, tuple) and len(argument) == 4 and isinstance(argument[3], str)):
        return argument
    shape, strides, offset, dtype = argument
    length = offset + 1 + sum((max(n, 1) - 1) * s for n, s in zip(shape, strides, strict=True))
    memory = np.arange(1, length + 1) % 50 if dtype != "bool" else np.arange(length) % 3 == 0
    return library.from_numpy(memory).to(getattr(library, dtype)).as_strided(shape, strides, offset)


def _ints(case: Case, count: int, least: int, most: int) -> list[int]:
    return [case.random.randint(least, most) for _ in range(count)]


def _one(*more: Callable[[Case, int], Any]) -> Callable[[Case], tuple[list[Any], dict[str, Any]]]:
    """One tensor, and what is drawn knowing its number of dimensions."""

    def make(case: Case) -> tuple[list[Any], dict[str, Any]]:
        x = case.tensor()
        return [x, *(draw(case, len(x[0])) for draw in more)], {}

    return make


def _roll(case: Case) -> tuple[list[Any], dict[str, Any]]:
    x = case.tensor()
    count = case.random.randint(1, 2)
    dims = [case.dim(len(x[0])) for _ in range(count)] if case.random.random() < 0.8 else []
    return [x, _ints(case, count, -4, 4), dims], {}


def _masked(case: Case) -> tuple[list[Any], dict[str, Any]]:
    x = case.tensor()
    shape = x[0][case.random.randint(0, len(x[0])) :] if case.random.random() < 0.8 else case.shape()
    return [x, case.tensor(shape, "bool" if case.random.random() < 0.95 else None)], {}


MAKERS: dict[str, Callable[[Case], tuple[list[Any], dict[str, Any]]]] = {
    "cat": lambda case: ([case.joined(), case.dim(case.random.randint(1, 3))], {}),
    "stack": lambda case: ([case.joined(), case.dim(case.random.randint(1, 3))], {}),
    **dict.fromkeys(("hstack", "vstack", "dstack", "column_stack"), lambda case: ([case.joined()], {})),
    "block_diag": lambda case: (case.joined(), {}),
    "meshgrid": lambda case: (
        [[case.tensor(case.shape(case.random.choice((0, 1, 1, 1, 2))), "int64") for _ in range(3)]],
        {"indexing": case.random.choice(("ij", "xy"))},
    ),
    "flip": _one(lambda case, ndim: [case.dim(ndim) for _ in range(case.random.randint(0, 2))]),
    "roll": _roll,
    "rot90": _one(lambda case, ndim: case.random.randint(-3, 5), lambda case, ndim: [case.dim(ndim), case.dim(ndim)]),
    "repeat": _one(lambda case, ndim: _ints(case, ndim + case.random.choice((0, 0, 1, -1)), 0, 3)),
    "tile": _one(lambda case, ndim: _ints(case, case.random.randint(0, 4), 0, 3)),
    "constant_pad_nd": _one(lambda case, ndim: _ints(case, 2 * case.random.randint(0, max(ndim, 1)), -2, 2),
                            lambda case, ndim: case.random.choice((0, 1, 7.5))),
    **dict.fromkeys(("tril", "triu"), _one(lambda case, ndim: case.random.randint(-4, 4))),
    "diag": _one(lambda case, ndim: case.random.randint(-3, 3)),
    "diag_embed": _one(lambda case, ndim: case.random.randint(-2, 2), lambda case, ndim: case.dim(ndim + 1),
                       lambda case, ndim: case.dim(ndim + 1)),
    "diagflat": _one(lambda case, ndim: case.random.randint(-2, 2)),
    "masked_select": _masked,
}  # fmt: skip
METHODS: dict[str, Callable[..., Any]] = {"repeat": lambda x, sizes: x.repeat(sizes)}
WITH_OUT = ("cat", "stack", "hstack", "vstack", "dstack", "column_stack", "diag", "masked_select")


def differing(require: Callable[[str], Any], seeds: range) -> list[str]:
    """The cases that end otherwise than in PyTorch."""
    ours, theirs = require("glasstorch"), require("torch")
    found = []
    for seed in seeds:
        case = Case(seed)
        mine, expected = case.run(ours), case.run(theirs)
        # With out= PyTorch looks at its dtype before it looks at all sizes: of two faults another one may be told.
        both_refuse = case.out is not None and isinstance(mine, type) and isinstance(expected, type)
        if mine != expected and not both_refuse:
            found.append(f"seed {seed}: {case}\n  ours:     {mine}\n  PyTorch's: {expected}")
    return found


def test_shapes_are_made_as_in_pytorch(require: Callable[[str], Any]) -> None:
    assert not differing(require, range(4_000))


@pytest.mark.slow
def test_many_more_shapes_are_made_as_in_pytorch(require: Callable[[str], Any]) -> None:
    assert not differing(require, range(4_000, 100_000))
