"""What do counts of instructions tell, function by function?

Mirrors: torch/utils/benchmark/utils/valgrind_wrapper/timer_interface.py
Differs: the containers only; counts are not made here (`Timer.collect_callgrind`).
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from textwrap import indent
from typing import Any, NamedTuple

from glasstorch.jit._script import ScriptFunction, ScriptModule
from glasstorch.nn.modules.module import Module
from glasstorch.printing import options
from glasstorch.utils.benchmark.utils.common import TaskSpec

NOISY = "dictobject.c:lookdict_unicode"  # Python's look-up of names, whose count varies from run to run
MAX_ROWS = 18
MIN_NAME = 40  # characters of a function's name that are shown in any case
# What differs between builds and machines in the names of functions -> what is left of it.
STANDARDIZED = (
    (r"^.+build/\.\./", "build/../"),
    (r"^.+/build/aten/", "build/aten/"),
    (r"^.+/Python/", "Python/"),
    (r"^.+/Objects/", "Objects/"),
    (r"\s\[.+\]$", ""),
)
NO_SYMBOLS = """
Warning: PyTorch was not built with debug symbols.
         Source information may be limited. Rebuild with
         REL_WITH_DEB_INFO=1 for more detailed results."""


class FunctionCount(NamedTuple):
    """How many instructions ran in a function, which is named with its file."""

    count: int  # type: ignore[assignment]
    function: str


@dataclass(repr=False, eq=False, frozen=True)
class FunctionCounts:
    """The counts of many functions, largest first. `inclusive` ones hold those of the functions called, too."""

    _data: tuple[FunctionCount, ...]
    inclusive: bool
    truncate_rows: bool = True
    _linewidth: int | None = None

    def __iter__(self) -> Iterator[FunctionCount]:
        yield from self._data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, item: Any) -> FunctionCount | FunctionCounts:
        found = self._data[item]
        if isinstance(found, FunctionCount):
            return found
        return FunctionCounts(found, self.inclusive, truncate_rows=False)

    def __repr__(self) -> str:
        # A sign is counted twice, as in PyTorch.
        width = max((len(str(count)) + (count < 0) for count, _ in self), default=0)
        room = max((self._linewidth or options.linewidth) - width - 4, MIN_NAME)
        lines = [f"  {count:>{width}}  {_shortened(name, room)}" for count, name in self]
        if self.truncate_rows and len(lines) > MAX_ROWS:
            half = MAX_ROWS // 2
            lines = [*lines[:half], "...".rjust(width + 2), *lines[-half:]]
        if not self.inclusive:
            lines += ["", f"Total: {self.sum()}"]
        return "\n".join([object.__repr__(self), *lines])

    def __add__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merge(other, 1)

    def __sub__(self, other: FunctionCounts) -> FunctionCounts:
        return self._merge(other, -1)

    def __mul__(self, other: float) -> FunctionCounts:
        return _counted(((name, int(count * other)) for count, name in self), self.inclusive)

    def _merge(self, other: FunctionCounts, sign: int) -> FunctionCounts:
        if self.inclusive != other.inclusive:
            raise AssertionError("Cannot merge inclusive and exclusive counts.")
        own = ((name, count) for count, name in self)
        return _counted([*own, *((name, sign * count) for count, name in other)], self.inclusive)

    def transform(self, map_fn: Callable[[str], str]) -> FunctionCounts:
        """Rename the functions; counts of those that get the same name are added."""
        return _counted(((map_fn(name), count) for count, name in self), self.inclusive)

    def filter(self, filter_fn: Callable[[str], bool]) -> FunctionCounts:
        """Only the functions whose name the function accepts."""
        return FunctionCounts(tuple(each for each in self if filter_fn(each.function)), self.inclusive)

    def sum(self) -> int:
        """All instructions."""
        return sum(count for count, _ in self)

    def denoise(self) -> FunctionCounts:
        """The counts without those of Python's functions that vary by chance."""
        return self.filter(lambda name: NOISY not in name)


def _counted(counts: Iterable[tuple[str, int]], inclusive: bool) -> FunctionCounts:
    sums: Counter[str] = Counter()
    for name, count in counts:
        sums[name] += count
    rows = sorted((FunctionCount(count, name) for name, count in sums.items() if count), reverse=True)
    return FunctionCounts(tuple(rows), inclusive)


def _shortened(name: str, room: int) -> str:
    if len(name) <= room:
        return name
    left = (room - 5) // 2
    return f"{name[:left]} ... {name[-(room - left - 5) :]}"


@dataclass(repr=False, eq=False, frozen=True)
class CallgrindStats:
    """The instructions of a statement, and those of an empty one, the baseline."""

    task_spec: TaskSpec
    number_per_run: int
    built_with_debug_symbols: bool
    baseline_inclusive_stats: FunctionCounts
    baseline_exclusive_stats: FunctionCounts
    stmt_inclusive_stats: FunctionCounts
    stmt_exclusive_stats: FunctionCounts
    stmt_callgrind_out: str | None

    def __repr__(self) -> str:
        baseline, threads = self.baseline_exclusive_stats, self.task_spec.num_threads
        lines = [
            object.__repr__(self),
            self.task_spec.summarize(),
            f"  {'':>25}All{'':>10}Noisy symbols removed",
            f"    Instructions: {self.counts():>12}{'':>15}{self.counts(denoise=True):>12}",
            f"    Baseline:     {baseline.sum():>12}{'':>15}{baseline.denoise().sum():>12}",
            f"{self.number_per_run} runs per measurement, {threads} thread{'s' if threads > 1 else ''}",
        ]
        return "\n".join(lines) + ("" if self.built_with_debug_symbols else NO_SYMBOLS)

    def stats(self, inclusive: bool = False) -> FunctionCounts:
        """The counts of the statement."""
        return self.stmt_inclusive_stats if inclusive else self.stmt_exclusive_stats

    def counts(self, *, denoise: bool = False) -> int:
        """The number of instructions of the statement; `denoise` as in FunctionCounts."""
        stats = self.stmt_exclusive_stats
        return (stats.denoise() if denoise else stats).sum()

    def delta(self, other: CallgrindStats, inclusive: bool = False) -> FunctionCounts:
        """These counts minus those of another statement."""
        return self.stats(inclusive) - other.stats(inclusive)

    def as_standardized(self) -> CallgrindStats:
        """The same counts, with names of functions that do not depend on where libraries were built."""

        def standardized(name: str) -> str:
            for pattern, plain in STANDARDIZED:
                name = re.sub(pattern, plain, name)
            return name

        return replace(
            self,
            baseline_inclusive_stats=self.baseline_inclusive_stats.transform(standardized),
            baseline_exclusive_stats=self.baseline_exclusive_stats.transform(standardized),
            stmt_inclusive_stats=self.stmt_inclusive_stats.transform(standardized),
            stmt_exclusive_stats=self.stmt_exclusive_stats.transform(standardized),
            stmt_callgrind_out=None,  # it has the names as they were
        )


class Serialization(enum.Enum):
    """How a global reaches the process that is counted."""

    PICKLE = 0
    TORCH = 1
    TORCH_JIT = 2


SERIALIZED: dict[Serialization, tuple[type, ...]] = {
    Serialization.PICKLE: (str, bytes, bool, int, float, complex),
    Serialization.TORCH_JIT: (ScriptFunction, ScriptModule),
    Serialization.TORCH: (Module,),
}


class CopyIfCallgrind:
    """A global of a Timer that may be replaced by a copy where instructions are counted."""

    def __init__(self, value: Any, *, setup: str | None = None) -> None:
        method = next((method for method, types in SERIALIZED.items() if isinstance(value, types)), None)
        if method is None:
            listed = "\n".join(str([each.__name__ for each in types]) for types in SERIALIZED.values())
            raise ValueError(
                f"Unsupported type: {type(value)}\n"
                f"`collect_callgrind` restricts globals to the following types:\n{indent(listed, '  ')}"
            )
        self._value = value
        self._setup = setup
        self._serialization = method

    @property
    def value(self) -> Any:
        return self._value

    @property
    def setup(self) -> str | None:
        """Source that has to run before the copy can be made."""
        return self._setup

    @property
    def serialization(self) -> Serialization:
        return self._serialization

    @staticmethod
    def unwrap_all(globals: dict[str, Any]) -> dict[str, Any]:
        """The globals without the marks."""
        return {name: value.value if isinstance(value, CopyIfCallgrind) else value for name, value in globals.items()}
