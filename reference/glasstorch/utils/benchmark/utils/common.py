"""What is the result of a measurement, and how is it rounded and printed?

Mirrors: torch/utils/benchmark/utils/common.py

Times are in seconds. Statistics are computed in float64; what decides on units and digits is computed in float32, as in
PyTorch, so that both round at the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from textwrap import indent
from typing import Any, NamedTuple

import numpy as np

from glasstorch.core.dtype import float64
from glasstorch.core.parallel import get_num_threads, set_num_threads
from glasstorch.outside_data.creation import tensor

MAX_SIGNIFICANT_FIGURES = 4
MIN_CONFIDENCE_INTERVAL = 25e-9
Z = 1.645  # of the normal distribution: nine in ten lie within
# From which spread on, as a share of the median, a measurement is suspect.
IQR_WARNING = 0.1
IQR_GROSS_WARNING = 0.25
UNITS = {"ns": (1e-9, "nanosecond"), "us": (1e-6, "microsecond"), "ms": (1e-3, "millisecond"), "s": (1.0, "second")}


@dataclass(frozen=True, repr=False)
class TaskSpec:
    """What is measured: everything that describes a Timer except its globals."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or else the statement, with what tells it from others of that label."""
        if self.label is None and "\n" in self.stmt:
            return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{indent(self.stmt, '  ')}"
        named = self.stmt if self.label is None else self.label
        return f"{named}: {self.sub_label}" if self.sub_label else named

    def setup_str(self) -> str:
        """The setup as a text, empty where there is none."""
        if not self.setup or self.setup == "pass":
            return ""
        return f"setup:\n{indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup, each on lines of its own."""
        sections = filter(None, (self.title, self.description, self.setup_str()))
        return "\n".join(f"{section}\n" if "\n" in section else section for section in sections)


TASK_FIELDS = frozenset(field.name for field in fields(TaskSpec))


class _Statistics(NamedTuple):
    """Statistics of the times of one run; all are -1 if nothing was measured."""

    median: float
    mean: float
    p25: float
    p75: float


@dataclass(repr=False)
class Measurement:
    """The times of one statement, each of `number_per_run` runs. The fields of its TaskSpec are attributes too."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in TASK_FIELDS:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """The times of one run."""
        return [time / self.number_per_run for time in self.raw_times]

    @cached_property
    def _statistics(self) -> _Statistics:
        if not self.raw_times:
            return _Statistics(-1.0, -1.0, -1.0, -1.0)
        times = tensor(sorted(self.times), dtype=float64)
        p25, median, p75 = (float(times.quantile(share)) for share in (0.25, 0.5, 0.75))
        return _Statistics(median, float(times.mean()), p25, p75)

    @property
    def median(self) -> float:
        """The median of the times of one run."""
        return self._statistics.median

    @property
    def mean(self) -> float:
        """The mean of the times of one run."""
        return self._statistics.mean

    @property
    def iqr(self) -> float:
        """The interquartile range of the times of one run: the width of their middle half."""
        return self._statistics.p75 - self._statistics.p25

    @property
    def significant_figures(self) -> int:
        """How many digits of the median to trust, from 1 to 4.

        That is a rough estimate, from the spread of the middle half alone, as outliers are often long.
        """
        count = len(self.raw_times)
        middle = sorted(self.times)[count // 4 : math.ceil(3 * count / 4)]
        deviation = float(tensor(middle).std(unbiased=False))
        interval = max(Z * deviation / float(tensor(len(middle)).sqrt()), MIN_CONFIDENCE_INTERVAL)
        figures = math.floor(log10(self.median / interval))
        return min(max(figures, 1), MAX_SIGNIFICANT_FIGURES)

    def meets_confidence(self, threshold: float = IQR_WARNING) -> bool:
        """Whether the interquartile range is below this share of the median."""
        return self.iqr / self.median < threshold

    @property
    def _warning(self) -> str:
        if not self.raw_times or self.meets_confidence(IQR_WARNING):
            return ""
        gross = not self.meets_confidence(IQR_GROSS_WARNING)
        reason = (
            "This suggests significant environmental influence."
            if gross
            else ("This could indicate system fluctuation.")
        )
        share = self.iqr / self.median * 100
        return f"  WARNING: Interquartile range is {share:.1f}% of the median measurement.\n           {reason}"

    @property
    def has_warnings(self) -> bool:
        """Whether the times vary too much to be trusted."""
        return bool(self._warning)

    @property
    def title(self) -> str:
        """The title of its TaskSpec."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """The name of its row in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        lines = [object.__repr__(self), self.task_spec.summarize()]
        count, threads = len(self.raw_times), self.task_spec.num_threads
        median, _, p25, p75 = self._statistics
        unit, scale = select_unit(median) if count else ("s", 1.0)
        if count:
            lines.append(f"  {'Median: ' if count > 1 else ''}{median / scale:.2f} {unit}")
        if count >= 4:
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({p25 / scale:.2f} to {p75 / scale:.2f})")
        runs = f"{self.number_per_run} runs {'per measurement' if count > 1 else ''}"
        lines.append(f"  {count} measurement{_s(count)}, {runs}, {threads} thread{_s(threads)}")
        if self._warning:
            lines.append(self._warning)
        return "\n".join(lines)

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Join the measurements of the same task into one, as times of one run each, without metadata."""
        times: dict[TaskSpec, list[float]] = {}
        for measurement in measurements:
            times.setdefault(measurement.task_spec, []).extend(measurement.times)
        return [Measurement(number_per_run=1, raw_times=joined, task_spec=task) for task, joined in times.items()]


def _s(count: int) -> str:
    return "s" if count > 1 else ""


def log10(x: float) -> float:
    """The logarithm of a number in float32, rounded to float32."""
    return float(np.float32(math.log10(np.float32(x))))


def select_unit(t: float) -> tuple[str, float]:
    """The unit in which a time has one to three digits before the point, and its length in seconds.

    >>> select_unit(2e-5)
    ('us', 1e-06)
    """
    unit = {-3: "ns", -2: "us", -1: "ms"}.get(int(log10(t) // 3), "s")
    return unit, UNITS[unit][0]


def unit_to_english(u: str) -> str:
    """The word for a unit: "us" is a microsecond."""
    return UNITS[u][1]


def trim_sigfig(x: float, n: int) -> float:
    """The number rounded to `n` significant figures, in float32."""
    if n != int(n):
        raise AssertionError(f"Number of significant figures must be an integer, got {n}")
    scale = 10 ** (math.ceil(log10(abs(x))) - n)
    return float(tensor(x / scale).round() * scale)


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """The elements without repetitions, in the order in which they first came."""
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """In the `with` block, operators use `n` threads."""
    before = get_num_threads()
    try:
        set_num_threads(n)
        yield
    finally:
        set_num_threads(before)
