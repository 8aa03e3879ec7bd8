"""What was measured, where and when: the times of a file in `benchmarks/results/`, for a cell to show and to compare.

A cell never measures, because its output would differ from run to run; it reads what a benchmark has kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from workbook.book.project import project_root
from workbook.book.showing import Shown, display

UNITS: Final = {"s": 1.0, "ms": 1e3, "us": 1e6}
COLUMNS: Final = (  # who was measured, in the order of a table
    "plain", "fast", "numpy", "glasstorch", "torch", "eager", "compiled", "torch eager", "torch compiled",
)  # fmt: skip


class Measured(NamedTuple):
    """The times of one kind of benchmark, as they were measured last."""

    where: str  # the day, the versions and the machine
    seconds: Mapping[str, Mapping[str, float]]  # by what was measured, then by who
    facts: Mapping[str, float]  # what is no comparison, such as the time of a first call

    def show(self, *names: str, unit: str = "ms") -> None:
        """Show the times of these names in one unit (s, ms, us), and where they were measured.

        A name that ends with `*` stands for all that begin like it. KeyError if nothing was measured under a name;
        ValueError for another unit.
        """
        if unit not in UNITS:
            raise ValueError(f"show: the unit {unit!r}\n  accepted: {', '.join(UNITS)}")
        rows = {one: self.seconds[one] for name in names for one in self._named(name)}
        who = sorted({one for times in rows.values() for one in times}, key=COLUMNS.index)
        table = [["", *who]] + [
            [name, *(f"{number(times[one] * UNITS[unit])} {unit}" if one in times else "" for one in who)]
            for name, times in rows.items()
        ]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) if place else cell.ljust(width) for place, (cell, width) in enumerate(pairs))
            for pairs in (zip(row, widths, strict=True) for row in table)
        ]
        text = "\n".join(line.rstrip() for line in lines)
        display(Shown("quote calls", f"Measured on {self.where}", (("text", text),)))

    def _named(self, name: str) -> list[str]:
        begins = name.removesuffix("*")
        found = [one for one, times in self.seconds.items() if times and one.startswith(begins)]
        if name == begins:
            found = [one for one in found if one == name]
        if not found:
            raise KeyError(f"nothing was measured under the name {name!r}")
        return found


def number(value: float) -> str:
    """Three digits, and never an exponent.

    >>> number(1234.5), number(9.206), number(0.0111)
    ('1234', '9.21', '0.0111')
    """
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def measured(kind: str) -> Measured:
    """The last measurement of a kind: `cpu` against torch, `fusion`, `gain` of compiling, `plain` against fast kernels.

    FileNotFoundError if there is none of this kind.
    """
    folder = project_root() / "benchmarks" / "results"
    files = sorted(folder.glob(f"????-??-??-{kind}.json"))
    if not files:
        kinds = sorted({path.stem[11:] for path in folder.glob("????-??-??-*.json")})
        raise FileNotFoundError(f"no measurement of the kind {kind!r}\n  accepted: {', '.join(kinds)}")
    found = json.loads(files[-1].read_text(encoding="utf-8"))
    return Measured(found["where"], {row["name"]: row["seconds"] for row in found["rows"]}, found.get("facts", {}))
