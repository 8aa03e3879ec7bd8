"""Does indexing at random give PyTorch's values, view or copy, and class of error?

Each case is drawn from a seed: a tensor of any sizes, strides and dtype, an index of up to five entries of any kind,
and what is done with it. Both libraries carry it out, and what can be seen of it is compared: elements, strides,
whether it is a view, the tensor after it was written to, warnings, and the builtin class of an error.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.refusals import builtin

DTYPES = ("float32", "float32", "float64", "int64", "int32", "uint8", "bool", "float16", "complex64")
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5)
# How often each kind of entry is drawn.
KINDS = {
    "int": 8, "slice": 8, "all": 4, "none": 2, "dots": 2, "bool": 0.5, "indices": 9, "mask": 4, "bytes": 0.5,
    "numbers": 3, "range": 1, "array": 2, "numpy_int": 1, "tensor_int": 2, "tensor_bool": 0.5, "floats": 0.3,
}  # fmt: skip


class Case:
    """One seed's tensor, index and action, as plain data that either library can be given."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.shape = tuple(self.random.choice(SIZES) for _ in range(self.random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))))
        self.strides, self.offset = self._layout()
        self.dtype = self.random.choice(DTYPES)
        self.action = self.random.choice(("get", "get", "get", "set", "set", "set_number", "put", "add"))
        self.index = self._index()
        self.value_shape = self._value_shape()
        self.value_dtype = self.dtype if self.random.random() < 0.8 else self.random.choice(DTYPES)
        self.number = self.random.choice((0, 3, 2.5, True, -1, 1j))

    def __repr__(self) -> str:
        return (
            f"{self.dtype} {self.shape} strides {self.strides} offset {self.offset}, {self.action} {self.index}, value "
            f"{self.number if self.action == 'set_number' else (self.value_dtype, self.value_shape)}"
        )

    def _layout(self) -> tuple[tuple[int, ...], int]:
        order = list(range(len(self.shape)))
        if self.random.random() < 0.4:
            self.random.shuffle(order)
        strides, step = [0] * len(order), self.random.choice((1, 1, 1, 2))
        for dim in reversed(order):
            strides[dim] = step
            step *= max(self.shape[dim], 1)
        if self.action_free_expand():
            strides[self.random.randrange(len(strides))] = 0
        return tuple(strides), self.random.choice((0, 0, 1, 3))

    def action_free_expand(self) -> bool:
        """Whether one dimension has stride 0."""
        return bool(self.shape) and self.random.random() < 0.05

    def _index(self) -> Any:
        """What stands between the brackets."""
        draw = self.random.random()
        if draw < 0.1:
            return self._entry(0)
        entries: list[Any] = []
        dim = 0
        for _ in range(self.random.randint(1, len(self.shape) + self.random.choice((0, 0, 0, 0, 1)) or 1)):
            if dim >= len(self.shape) and self.random.random() < 0.8:
                break
            entry = self._entry(dim)
            if entry in entries and entry == ("dots",):
                continue  # a second one lets PyTorch look for a size that is not there
            entries.append(entry)
            dim += self._spoken_of(entry)
            if entry == ("dots",):
                dim = max(dim, len(self.shape) - 1)
        return ("tuple", entries) if draw < 0.97 else ("list", entries)

    def _spoken_of(self, entry: Any) -> int:
        if entry[0] in ("none", "dots", "bool"):
            return 0
        return len(entry[1]) if entry[0] in ("mask", "bytes") else 1

    def _entry(self, dim: int) -> Any:
        """One index: its kind, and its values."""
        size = self.shape[dim] if dim < len(self.shape) else 2
        if self.action in ("put", "add"):
            return self._mask("mask", dim) if self.random.random() < 0.2 else self._indices("indices", size)
        (kind,) = self.random.choices(list(KINDS), list(KINDS.values()))
        if kind in ("int", "numpy_int", "tensor_int"):
            return kind, self._place(size)
        if kind == "slice":
            ends = [self.random.choice((None, self.random.randint(-size - 1, size + 1))) for _ in range(2)]
            return (
                kind,
                *ends,
                self.random.choice((None, None, 1, 2, 3, 0, -1) if self.random.random() < 0.2 else (None, 1, 2)),
            )
        if kind == "range":
            return kind, max(size, 0)
        if kind in ("bool", "tensor_bool"):
            return kind, self.random.random() < 0.5
        if kind in ("mask", "bytes"):
            return self._mask(kind, dim)
        if kind in ("indices", "array", "numbers"):
            return self._indices(kind, size)
        return (kind,)

    def _indices(self, kind: str, size: int) -> Any:
        shape = self.random.choice(((), (1,), (2,), (2,), (2, 1), (1, 2), (3,), (0,), (2, 3)))
        values = [self._place(size) for _ in range(int(np.prod(shape)))]
        by_columns = self.action == "get" and self.random.random() < 0.2  # of two writes to a place the last stays
        return kind, shape, values, self.random.choice(("int64", "int64", "int32")), by_columns

    def _mask(self, kind: str, dim: int) -> Any:
        shape = self.shape[dim : dim + self.random.choice((1, 1, 2))] or (2,)
        if self.random.random() < 0.03:
            shape = (*shape[:-1], shape[-1] + 1)
        return kind, shape, [self.random.random() < 0.5 for _ in range(int(np.prod(shape)))]

    def _place(self, size: int) -> int:
        """An index of a dimension; now and then one outside."""
        if not size or self.random.random() < 0.01:
            return self.random.randint(-size - 2, size + 1)
        return self.random.randint(-size, size - 1)

    def _value_shape(self) -> tuple[int, ...]:
        """Sizes that may or may not fit."""
        draw = self.random.random()
        if draw < 0.4:
            return ()
        if draw < 0.5:
            return tuple(self.random.choice((1, 2, 3)) for _ in range(self.random.randint(1, 2)))
        return ("as picked", self.random.choice(("same", "ones", "tail")))  # type: ignore[return-value]

    # In a library ---------------------------------------------------------------------------------------------------

    def run(self, library: Any) -> Any:
        """What can be seen of the case in one library."""
        x = self._tensor(library)
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            try:
                seen = self._act(library, x)
            except (IndexError, RuntimeError, TypeError, ValueError) as error:
                seen = builtin(error)
        once = "Casting complex values to real"  # which PyTorch says once in a process
        said = sorted({w.category.__name__ for w in given if not str(w.message).startswith(once)})
        # What a failed write left behind, and what it warned of before, is not compared.
        return seen if isinstance(seen, type) else (seen, said, elements(x))

    def _act(self, library: Any, x: Any) -> Any:
        index = spell(library, self.index)
        if self.action == "get":
            result = x[index]
            shares = result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() and result.numel() > 0
            place = (result.storage_offset(), result._is_view()) if shares else None
            return elements(result), tuple(result.shape), str(result.dtype), tuple(result.stride()), place
        value = self._value(library, x, index)
        if self.action in ("set", "set_number"):
            x[index] = self.number if self.action == "set_number" else value
            return None
        x.index_put_(index if isinstance(index, tuple) else (index,), value, accumulate=self.action == "add")
        return None

    def _tensor(self, library: Any) -> Any:
        length = self.offset + 1 + sum((max(n, 1) - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        memory = np.arange(1, length + 1) % 100 if self.dtype != "bool" else np.arange(length) % 3 == 0
        flat = library.from_numpy(memory).to(getattr(library, self.dtype))
        return flat.as_strided(self.shape, self.strides, self.offset)

    def _value(self, library: Any, x: Any, index: Any) -> Any:
        shape = self.value_shape
        if shape[:1] == ("as picked",):
            picked = tuple(x[index].shape)
            shape = {"same": picked, "ones": (1, *picked), "tail": picked[1:]}[shape[1]]  # type: ignore[index]
        values = np.arange(int(np.prod(shape))).reshape(shape) % 7 + 100
        return library.from_numpy(np.array(values)).to(getattr(library, self.value_dtype))


def spell(library: Any, spec: Any) -> Any:
    """An index as the library's user writes it."""
    kind, *rest = spec
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(spell(library, entry) for entry in rest[0])
    if kind in ("mask", "bytes"):
        array = np.array(rest[1], np.bool_ if kind == "mask" else np.uint8).reshape(rest[0])
        return library.from_numpy(array)
    if kind in ("indices", "array", "numbers"):
        array = np.array(rest[1], rest[2]).reshape(rest[0])
        if kind == "indices" and rest[3]:  # column by column
            return library.from_numpy(array.T.copy()).permute(*reversed(range(array.ndim)))
        return {"indices": library.from_numpy, "array": np.asarray, "numbers": np.ndarray.tolist}[kind](array)
    simple: dict[str, Callable[..., Any]] = {
        "int": int,
        "numpy_int": np.int64,
        "tensor_int": library.tensor,
        "tensor_bool": library.tensor,
        "bool": bool,
        "slice": slice,
        "all": lambda: slice(None),
        "none": lambda: None,
        "dots": lambda: ...,
        "range": range,
        "floats": lambda: library.zeros(1),
    }
    return simple[kind](*rest)


def elements(tensor: Any) -> Any:
    """The elements, so that they can be compared."""
    return tensor.tolist()


def differing(require: Callable[[str], Any], seeds: range) -> list[str]:
    """The cases that end otherwise than in PyTorch."""
    ours, theirs = require("glasstorch"), require("torch")
    found = []
    for seed in seeds:
        case = Case(seed)
        mine, expected = case.run(ours), case.run(theirs)
        if mine != expected:
            found.append(f"seed {seed}: {case}\n  ours:   {mine}\n  torch's: {expected}")
    return found


def test_indexing_ends_as_in_pytorch(require: Callable[[str], Any]) -> None:
    assert not differing(require, range(8_000))


@pytest.mark.slow
def test_much_more_indexing_ends_as_in_pytorch(require: Callable[[str], Any]) -> None:
    assert not differing(require, range(8_000, 200_000))
