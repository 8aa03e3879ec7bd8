"""Where does a section get the times that it shows? From the last results of a benchmark, never from a clock."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from workbook.book.errors import BookError
from workbook.book.project import project_root


class Results(NamedTuple):
    """The last results of one kind of benchmark."""

    where: str  # when and on which machine they were measured
    seconds: dict[str, dict[str, float]]  # by row, then by library
    facts: dict[str, float]


def benchmark_results(kind: str) -> Results:
    """The newest file of `benchmarks/results` whose name ends in this kind: "cpu", "fusion", "plain"."""
    folder = project_root() / "benchmarks" / "results"
    files = sorted(folder.glob(f"*-{kind}.json"))
    if not files:
        known = sorted({file.stem.rpartition("-")[2] for file in folder.glob("*.json")})
        raise BookError(f"benchmarks/results has no file of the kind {kind!r}\n  accepted: {', '.join(known)}")
    found: dict[str, Any] = json.loads(files[-1].read_text(encoding="utf-8"))
    seconds = {row["name"]: row["seconds"] for row in found["rows"]}
    return Results(found["where"], seconds, found.get("facts", {}))
