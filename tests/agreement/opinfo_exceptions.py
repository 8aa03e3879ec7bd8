"""Which trials of an entry of PyTorch's operator database may differ, and how?

A line of `opinfo_exceptions.txt` is `entry check dtypes count fault: reason`. So many trials of that check (`all`:
every one) in each of those dtypes may end with that fault, which is `Unequal` for values that differ or the class of
an exception. Every other trial of the entry has to pass.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

CHECKS = (
    *("results", "gradients", "forms", "refusals", "words", "second"),
    *("vmap", "vmap-vjp", "jvp", "vmap-jvp", "jvp-vjp"),  # function transforms
    *("vjp", "jvp-jvp", "vjp-jvp", "vjp-vmap-vjp"),
    "meta",
)


class Trial(NamedTuple):
    """One call of an entry, or its gradient; to run it raises an exception if something is not as in PyTorch."""

    check: str
    dtype: str
    run: Callable[[], None]


class Line(NamedTuple):
    """What may differ."""

    entry: str
    check: str
    dtypes: tuple[str, ...]
    count: float  # infinite where every trial differs
    fault: str
    reason: str


def lines() -> list[Line]:
    """The lines of opinfo_exceptions.txt."""
    return [line_of(t) for t in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()]


def named(error: BaseException) -> str:
    """The name of an error's class in the source; this library's own are shown under the names of builtins."""
    return getattr(error, "rule", type(error).__name__)


def line_of(text: str) -> Line:
    """A line of the file."""
    where, _, reason = text.partition(": ")
    entry, check, dtypes, count, fault = where.split()
    return Line(entry, check, tuple(dtypes.split(",")), math.inf if count == "all" else int(count), fault, reason)


def hold(entry: str, trials: Iterable[Trial], every: bool, excused: Iterable[Line] | None = None) -> None:
    """Run the trials of an entry; those that a line excuses may end with its fault, and no other.

    A line of `all` is needed by every trial; of another one at least one trial differs where the entry is tried in
    `every` sample, and no more than its number.
    """
    found = {
        (line.check, d): line for line in (lines() if excused is None else excused) if line.entry == entry
        for d in line.dtypes
    }  # fmt: skip
    tried: Counter[tuple[str, str]] = Counter()
    differing: Counter[tuple[str, str]] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trial in trials:
            key = (trial.check, trial.dtype)
            tried[key] += 1
            try:
                trial.run()
            except Exception as error:
                if key not in found or named(error) != found[key].fault:
                    raise
                differing[key] += 1
    for key in tried.keys() & found.keys():
        least, most = (tried[key],) * 2 if math.isinf(found[key].count) else (int(every), found[key].count)
        assert least <= differing[key] <= most, (
            f"{entry}: {differing[key]} of {tried[key]} trials of {key} differ, expected {least} to {most}"
        )
