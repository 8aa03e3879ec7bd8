"""What do the fast kernels save?

    python -m benchmarks.plain                  the rows of a million elements and of `fast.py`, in three pairs of runs
    python -m benchmarks.plain --rows '*sort*'  only rows whose names match

A pair is one run as usual and one with GLASSTORCH_PLAIN=1, each in a fresh process; which of the two goes first
alternates. A row's figure is the median over the pairs of the plain time divided by the usual one. The numbers of a run
of all rows are kept in `results/`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks.__main__ import modules, save, versions
from benchmarks.against import ROOT, Compared, compared, measured
from benchmarks.harness import Row

ROWS = ("1e6: *", "fast: *")


def in_pairs(rows: Sequence[str], pairs: int) -> list[Compared]:
    """The rows in the order of what is saved, the most first: `here` is plain, `there` is as usual."""
    found = []
    for number in range(pairs):
        print(f"  pair {number + 1} of {pairs}", file=sys.stderr, flush=True)
        times = {plain: measured(ROOT, rows, plain=plain) for plain in ((True, False) if number % 2 else (False, True))}
        found.append((times[True], times[False]))
    return compared(found)


def table(rows: Sequence[Compared]) -> str:
    """The comparison as Markdown."""
    lines = ["| | plain | fast | plain / fast |", "|---|--:|--:|--:|"]
    lines += [f"| {r.name} | {r.here * 1e3:.2f} ms | {r.there * 1e3:.2f} ms | {r.ratio:.1f} |" for r in rows]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.plain", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", action="append", metavar="GLOB", help="only rows with such names; may be repeated")
    parser.add_argument("--pairs", type=int, default=3, help="how many pairs of runs (default: 3)")
    options = parser.parse_args(arguments)
    rows = in_pairs(options.rows or ROWS, options.pairs)
    if not rows:
        parser.error(f"no row matches {' or '.join(options.rows or ROWS)}")
    where = versions({"glasstorch": modules()["glasstorch"]})
    print(f"{table(rows)}\n\n{where}")
    if not options.rows:
        save([Row(r.name, {"plain": r.here, "fast": r.there}, share=r.ratio) for r in rows], {}, where, "plain")
    return 0


if __name__ == "__main__":
    sys.exit(main())
