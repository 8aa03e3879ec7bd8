"""Is this checkout slower than another one, in any row of the table?

    python -m benchmarks.against PATH                      every row, start-up and memory, in five pairs of runs
    python -m benchmarks.against PATH --rows '*a + b*'     only rows whose names match
    python -m benchmarks.against PATH --pairs 9 --limit 1.02

A pair is one run of each checkout, each in a fresh process; which of the two goes first alternates. A row's figure is
the median over the pairs of its time here divided by its time there. Rows above the limit are measured in as many pairs
more, by themselves, up to three times, and the median of all their pairs counts: disturbances by other programs cancel
out, a slower library does not. Exits with 1, and names the rows, where some remain.

Each checkout runs its own `benchmarks/` on its own `reference/`, so that neither needs the other's modules: what they
share is `benchmarks.__main__.FILES`, and contests with a name and `measure()`. A row that only one of them has is named
and not compared.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from benchmarks.startup import PROGRAM

ROOT = Path(__file__).resolve().parents[1]
IMPORTS = 5  # fresh processes in each run; the fastest counts, and the one with the least memory
AGAIN = 3  # how often what is above the limit is measured again
IMPORT_SECONDS, IMPORT_MEMORY = "import glasstorch, seconds", "import glasstorch, MB"

# Run in the folder of a checkout. Contests are made one after another, since some hold much memory. Those of other
# libraries are left out, and with them the rows that are ratios to one.
MEASURE = """
import fnmatch, json, sys
from pathlib import Path
import glasstorch
from benchmarks.__main__ import FILES

reference = Path.cwd() / "reference"
if not Path(glasstorch.__file__).resolve().is_relative_to(reference.resolve()):
    sys.exit(f"glasstorch was imported from {glasstorch.__file__}, not from {reference}")
seconds = {}
for contests in FILES.values():
    for contest in contests({"glasstorch": glasstorch}):
        if not any(fnmatch.fnmatchcase(contest.name, glob) for glob in sys.argv[1:]):
            continue
        runs = getattr(contest, "runs", {})
        for other in [name for name in runs if not name.startswith("glasstorch")]:
            del runs[other]
        try:
            row = contest.measure()
        except KeyError:
            continue
        for name, time in row.seconds.items():
            if name.startswith("glasstorch"):
                seconds[contest.name + name.removeprefix("glasstorch")] = time
print(json.dumps(seconds))
"""


Pair = tuple[dict[str, float], dict[str, float]]  # what each row took here, and there


class Compared(NamedTuple):
    """One row: how long it takes here and there, and the one by the other; medians over the pairs."""

    name: str
    ratio: float
    here: float
    there: float


def measured(root: Path, rows: Sequence[str], plain: bool = False) -> dict[str, float]:
    """The figures of one checkout's rows that match, from fresh processes; `plain`: of its plain kernels alone."""
    found: dict[str, float] = dict(json.loads(_output(root, MEASURE, *rows, plain=plain)))
    if any(_matches(name, rows) for name in (IMPORT_SECONDS, IMPORT_MEMORY)):
        imports = [_output(root, PROGRAM.format(module="glasstorch")).split() for _ in range(IMPORTS)]
        seconds, kilobytes = (min(map(float, figures)) for figures in zip(*imports, strict=True))
        facts = {IMPORT_SECONDS: seconds, IMPORT_MEMORY: kilobytes / 1024}
        found |= {name: value for name, value in facts.items() if _matches(name, rows)}
    return found


def _matches(name: str, rows: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in rows)


def _output(root: Path, program: str, *arguments: str, plain: bool = False) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": os.pathsep.join((str(root / "reference"), str(root))), "OMP_NUM_THREADS": "1"}
    environment |= {"GLASSTORCH_PLAIN": str(int(plain))}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=root, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"benchmarks.against: {root} cannot be measured\n{done.stderr.strip()}")
    return done.stdout.splitlines()[-1]


def in_pairs(there: Path, rows: Sequence[str], pairs: int) -> Iterator[Pair]:
    """What was measured here and there, pair by pair."""
    for number in range(pairs):
        print(f"  pair {number + 1} of {pairs}", file=sys.stderr, flush=True)
        order = (ROOT, there) if number % 2 else (there, ROOT)
        found = {root: measured(root, rows) for root in order}
        yield found[ROOT], found[there]


def compared(pairs: Sequence[Pair]) -> list[Compared]:
    """The rows that both checkouts have, the slowest by comparison first. A pair may hold some of the rows only."""
    rows = []
    for name in {name for here, there in pairs for name in here.keys() & there.keys()}:
        times = [(here[name], there[name]) for here, there in pairs if name in here and name in there]
        ratio = statistics.median(here / there for here, there in times)
        rows.append(Compared(name, ratio, *(statistics.median(side) for side in zip(*times, strict=True))))
    return sorted(rows, key=lambda row: (-row.ratio, row.name))


def table(rows: Sequence[Compared]) -> str:
    """The comparison as Markdown."""
    lines = ["| | here | there | here / there |", "|---|--:|--:|--:|"]
    lines += [
        f"| {row.name} | {_figure(row.name, row.here)} | {_figure(row.name, row.there)} | {row.ratio:.3f} |"
        for row in rows
    ]
    return "\n".join(lines)


def _figure(name: str, value: float) -> str:
    return f"{value:.1f}" if name == IMPORT_MEMORY else f"{value * 1e6:.2f} us"


def _exactly(name: str) -> str:
    """A pattern that only this name matches."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.against", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("other", type=Path, help="the checkout to compare with")
    parser.add_argument("--rows", action="append", metavar="GLOB", help="only rows with such names; may be repeated")
    parser.add_argument("--pairs", type=int, default=5, help="how many pairs of runs (default: 5)")
    parser.add_argument("--limit", type=float, default=1.05, help="the ratio that no row may exceed (default: 1.05)")
    options = parser.parse_args(arguments)
    there = options.other.resolve()
    if not (there / "reference" / "glasstorch").is_dir() or not (there / "benchmarks").is_dir():
        parser.error(f"{there} is no checkout: expected the folders reference/glasstorch and benchmarks in it")
    if options.pairs < 1:
        parser.error(f"--pairs: expected 1 or more, got {options.pairs}")
    pairs = list(in_pairs(there, options.rows or ["*"], options.pairs))
    rows = compared(pairs)
    if not rows:
        parser.error(f"no row of both checkouts matches {' or '.join(options.rows or ['*'])}")
    print(table(rows))
    for side, other, where in ((0, 1, "here"), (1, 0, "there")):
        alone = sorted(
            {name for pair in pairs for name in pair[side]} - {name for pair in pairs for name in pair[other]}
        )
        if alone:
            print(f"\nOnly {where}: {'; '.join(alone)}")
    slower = [row.name for row in rows if row.ratio > options.limit]
    for _ in range(AGAIN):
        if slower:
            pairs += in_pairs(there, [_exactly(name) for name in slower], options.pairs)
            again = [row for row in compared(pairs) if row.name in slower]
            print(f"\nAbove {options.limit:g} and measured again:\n\n{table(again)}")
            slower = [row.name for row in again if row.ratio > options.limit]
    print(f"\n{len(rows)} rows, {len(slower)} above {options.limit:g}{': ' if slower else ''}{'; '.join(slower)}")
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
