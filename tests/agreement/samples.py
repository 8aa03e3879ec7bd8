"""What is a row of the operator table?

A row names an operator and says, by a NumPy function, what it computes; its calls are the samples. Every oracle of
`oracles.py` reads the same rows. Nothing here knows an operator; `table.py` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from glasstorch.core.dtype import BY_NAME, FROM_NUMPY, dtype, promote_types

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "uint8")
NUMBERS = FLOATS + INTEGERS
ALL = (*NUMBERS, "bool")

# The operators that have no kernel for CUDA, one a line; test_coverage.py holds the list exact.
WITHOUT_CUDA = frozenset(Path(__file__).with_name("without_cuda.txt").read_text(encoding="utf-8").split())

# Which dtype has the result? A rule answers from the dtypes of all tensors of the call, in order. -------------------

Rule = Callable[[Sequence[dtype]], dtype]


def SAME(dtypes: Sequence[dtype]) -> dtype:
    """That of the first tensor."""
    return dtypes[0]


def PROMOTED(dtypes: Sequence[dtype]) -> dtype:
    """What all become together."""
    return reduce(promote_types, dtypes)


def FLOAT(dtypes: Sequence[dtype]) -> dtype:
    """As PROMOTED; integers and bool become float32."""
    joined = PROMOTED(dtypes)
    return joined if joined.is_floating_point else BY_NAME["float32"]


def SUMMED(dtypes: Sequence[dtype]) -> dtype:
    """That of the first tensor; integers and bool are added up as int64."""
    return dtypes[0] if dtypes[0].is_floating_point else BY_NAME["int64"]


def always(name: str) -> Rule:
    """One dtype, whatever the tensors are."""
    return lambda dtypes: BY_NAME[name]


BOOL, LONG = always("bool"), always("int64")


# What stands for the arguments of a call -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class T:
    """A tensor: its sizes, the range of its elements, its dtype if not the run's, and how it lies in memory."""

    shape: tuple[int, ...]
    low: float = -2
    high: float = 2
    dtype: str | None = None
    layout: str = "row-major"  # or "transposed", "stepped", "expanded"
    distinct: bool = False  # no element twice: which one is the largest is then no matter of taste
    grad: bool = True  # whether its gradient is checked, where it has one


def t(*shape: int, **options: Any) -> T:
    """A tensor of the run's dtype with elements between -2 and 2."""
    return T(shape, **options)


def index(*shape: int, below: int) -> T:
    """A tensor of indices."""
    return T(shape, 0, below - 1, "int64", grad=False)


def mask(*shape: int) -> T:
    """A tensor of truth values."""
    return T(shape, 0, 1, "bool", grad=False)


@dataclass(frozen=True, slots=True)
class Dtype:
    """A dtype, by its name, for either library."""

    name: str


@dataclass(frozen=True, slots=True)
class Device:
    """A device, by its name, for either library."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """One sample: the arguments of the operator, and the rule of its result's dtype if not the row's."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    dtypes: tuple[str, ...] | None = None


def call(*args: Any, result: Any = None, dtypes: tuple[str, ...] | None = None, **kwargs: Any) -> Call:
    """`call(t(2, 3), t(3), alpha=2)`."""
    return Call(args, kwargs, result, dtypes)


@dataclass(frozen=True, slots=True)
class Row:
    """One operator: what it computes, on which samples, for which dtypes."""

    op: str  # add.Tensor
    oracle: Callable[..., Any]  # takes NumPy arrays for tensors; floating point ones are float64
    calls: tuple[Call, ...]
    dtypes: tuple[str, ...] = ALL
    result: Any = SAME  # a rule, or one for each result
    differentiable: bool = True
    meta: bool = True  # whether sizes and dtype can be told without data
    in_torch: bool = True
    tolerance: float = 1.0  # times the usual one
    cuda: bool = True  # False: made of operators that have no kernel there
    twice: bool = True  # False: the derivative has none of its own, and says so

    @property
    def on_cuda(self) -> bool:
        """Whether it computes on a CUDA device."""
        return self.cuda and self.op not in WITHOUT_CUDA

    @property
    def function(self) -> str:
        return self.op.partition(".")[0]


def row(op: str, oracle: Callable[..., Any], *calls: Call, **options: Any) -> Row:
    """A row of the table."""
    return Row(op, oracle, calls, **options)


# Making the arguments -------------------------------------------------------------------------------------------------


def arrays(row: Row, call: Call, dtype_name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with a NumPy array for each tensor, always the same for one row, call and dtype."""
    random = np.random.default_rng(crc32(f"{row.op} {row.calls.index(call)} {dtype_name}".encode()))
    return (
        tuple(_replace(a, lambda spec: _array(spec, dtype_name, random)) for a in call.args),
        {name: _replace(a, lambda spec: _array(spec, dtype_name, random)) for name, a in call.kwargs.items()},
    )


def tensors_in(call: Call) -> Iterator[T]:
    """The tensors among the arguments, in order."""
    found: list[T] = []
    for argument in (*call.args, *call.kwargs.values()):
        _replace(argument, found.append)
    return iter(found)


def _replace(value: Any, make: Callable[[T], Any]) -> Any:
    if isinstance(value, T):
        return make(value)
    return [_replace(v, make) for v in value] if isinstance(value, list) else value


def _array(spec: T, run: str, random: np.random.Generator) -> np.ndarray[Any, Any]:
    name = spec.dtype or run
    if spec.distinct:
        values = random.permutation(int(np.prod(spec.shape))).reshape(spec.shape)
    elif name in FLOATS:
        values = random.uniform(spec.low, spec.high, spec.shape)
    elif name == "bool":
        values = random.integers(0, 2, spec.shape)
    else:
        low = max(spec.low, 0) if name == "uint8" else spec.low
        values = random.integers(int(np.ceil(low)), int(spec.high) + 1, spec.shape)
    if spec.layout == "expanded":
        values = np.broadcast_to(values[:1], spec.shape)
    return np.asarray(values).astype(BY_NAME[name].numpy)


def in_library(library: Any, call: Call, given: tuple[tuple[Any, ...], dict[str, Any]], device: str = "cpu") -> Any:
    """The arguments for a library: tensors laid out as the call says, on a device."""
    specs = tensors_in(call)

    def convert(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return _tensor(library, next(specs), value, device)
        if isinstance(value, list):
            return [convert(v) for v in value]
        if isinstance(value, Device):
            return library.device(value.name)
        return getattr(library, value.name) if isinstance(value, Dtype) else value

    args, kwargs = given
    return [convert(a) for a in args], {name: convert(a) for name, a in kwargs.items()}


def _tensor(library: Any, spec: T, array: np.ndarray[Any, Any], device: str) -> Any:
    name = FROM_NUMPY[array.dtype].name
    dtype = getattr(library, name)
    values = array.astype(np.float32) if name == "bfloat16" else array  # which no library takes from NumPy
    shape = values.shape
    strides, offset = _geometry(spec.layout, shape)
    size = offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) if values.size else 0
    if device == "meta":
        return library.empty(size, dtype=dtype, device="meta").as_strided(shape, strides, offset)
    if spec.layout == "row-major":
        return library.from_numpy(values.copy()).to(device, dtype)
    memory = np.zeros(size, values.dtype)
    steps = [s * values.itemsize for s in strides]
    np.lib.stride_tricks.as_strided(memory[offset:], shape, steps)[...] = values
    return library.from_numpy(memory).to(device, dtype).as_strided(shape, strides, offset)


def _geometry(layout: str, shape: tuple[int, ...]) -> tuple[list[int], int]:
    """Strides and offset of a layout."""
    rows = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    columns = [int(np.prod(shape[:i])) for i in range(len(shape))]
    return {
        "row-major": (rows, 0),
        "transposed": (columns, 0),
        "stepped": ([2 * s for s in rows], 1),
        "expanded": ([0, *rows[1:]], 0),
    }[layout]
