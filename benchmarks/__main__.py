"""Runs the benchmarks, prints the table in Markdown, and keeps the numbers in `results/`.

    python -m benchmarks            everything
    python -m benchmarks eager      one file's contests
    python -m benchmarks kept       nothing: it prints the last numbers that were kept, as README.md shows them

Progress goes to standard error, the table to standard output. torch is measured where it is installed. Five runs keep
their numbers: one of everything; `book`, as the book changes more often than what the library computes; `eager
autograd`, what a gradient costs; `library sparse`, what a program's own part of a call costs, and a sparse product; and
`compile`, what torch.compile and ours make of a program.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import platform
import sys
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy or torch starts its threads: one thread each

import numpy as np

from benchmarks import (
    amp,
    autograd,
    book,
    compile,
    convolution,
    dataloader,
    eager,
    fast,
    fusion,
    jit,
    library,
    million,
    networks,
    operators,
    profiler,
    serialization,
    sparse,
    startup,
    tensors,
    training,
)
from benchmarks.harness import Row

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"
FILES = {
    "eager": eager.contests,
    "autograd": autograd.contests,
    "operators": operators.contests,
    "million": million.contests,
    "tensors": tensors.contests,
    "training": training.contests,
    "jit": jit.contests,
    "fusion": fusion.contests,
    "fast": fast.contests,
    "convolution": convolution.contests,
    "networks": networks.contests,
    "dataloader": dataloader.contests,
    "serialization": serialization.contests,
    "profiler": profiler.contests,
    "amp": amp.contests,
    "library": library.contests,
    "sparse": sparse.contests,
    "compile": compile.contests,
}
# Runs that keep their numbers
TOGETHER = {"autograd": {"eager", "autograd"}, "dispatch": {"library", "sparse"}, "compile": {"compile"}}
OTHERS = ("startup", "book")
BOOK = "The book, from the build to what a reader waits for"


def modules() -> dict[str, ModuleType]:
    """The contestants with torch's API: glasstorch, and torch where it is installed."""
    found = {"glasstorch": importlib.import_module("glasstorch")}
    if importlib.util.find_spec("torch"):
        torch = found["torch"] = importlib.import_module("torch")
        torch.set_num_threads(1)
    return found


def main(wanted: list[str]) -> int:
    if "kept" in wanted:
        return print_kept(wanted)
    unknown = [name for name in wanted if name not in (*FILES, *OTHERS)]
    if unknown:
        print(
            f"benchmarks: there is no {unknown[0]!r}; expected some of {', '.join((*FILES, *OTHERS))}",
            file=sys.stderr,
        )
        return 2
    contestants = modules()
    rows = []
    for name, contests in FILES.items():
        if not wanted or name in wanted:
            for contest in contests(contestants):
                print(f"  measuring {contest.name}", file=sys.stderr, flush=True)
                rows.append(contest.measure())
    facts: dict[str, float] = {}
    if not wanted or "startup" in wanted:
        print("  measuring start-up", file=sys.stderr, flush=True)
        facts["import glasstorch, seconds"], facts["import glasstorch, MB"] = startup.import_cost("glasstorch")
        for arguments in startup.COMMANDS:
            facts[f"workbook {' '.join(arguments)}, seconds"] = startup.command_seconds(ROOT, *arguments)
    about: dict[str, float] = {}
    if not wanted or "book" in wanted:
        print("  measuring the book", file=sys.stderr, flush=True)
        about = book.facts(ROOT)
    where = versions(contestants)
    lists = [table(rows, facts, where)] if rows or facts else []
    lists += [about_the_book(about, where)] if about else []
    if lists:
        print("\n\n".join(lists))
    if not wanted:
        save(rows, facts, where)
    for of, files in TOGETHER.items():
        if set(wanted) == files:
            save(rows, facts, where, of)
    if about.keys() >= book.MOST.keys():
        save([], about, where, "book")
    elif not wanted or "book" in wanted:
        why = "its pages need chromium and Playwright" if about else "it could not be built; `make site` says why"
        print(f"benchmarks: no numbers of the book are kept: {why}", file=sys.stderr)
        return 1 if wanted else 0
    return 0


def print_kept(wanted: list[str]) -> int:
    """Print what README.md shows. Returns the exit code."""
    if wanted != ["kept"]:
        print("benchmarks: 'kept' stands alone, as it measures nothing", file=sys.stderr)
        return 2
    try:
        print(kept())
    except FileNotFoundError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


def kept() -> str:
    """What README.md shows: the last results of everything, and the last of the book."""
    everything, of_book = last("cpu"), last("book")
    rows = [
        Row(row["name"], row["seconds"], row["budget"], share=None if "torch" in row["seconds"] else row["ratio"])
        for row in everything["rows"]
    ]
    library = table(rows, everything["facts"], everything["where"])
    return f"{library}\n\n{about_the_book(of_book['facts'], of_book['where'])}"


def last(of: str) -> Any:
    """The newest results of this kind."""
    found = sorted(RESULTS.glob(f"[0-9]*-{of}.json"))
    if not found:
        command = "python -m benchmarks" + (" book" if of == "book" else "")
        raise FileNotFoundError(f"results/ holds no DATE-{of}.json yet; `{command}` writes one")
    return json.loads(found[-1].read_text(encoding="utf-8"))


def versions(contestants: dict[str, ModuleType]) -> str:
    """What was measured, where and when."""
    packages = [f"{name} {module.__version__}" for name, module in contestants.items()]
    cores = os.cpu_count()
    core = os.environ.get("OPENBLAS_CORETYPE")  # the processor for which NumPy's BLAS computes, if it is told one
    blas = f", OPENBLAS_CORETYPE={core}" if core else ""
    return (
        f"{date.today().isoformat()}, {', '.join(packages)}, numpy {np.__version__}, Python "
        f"{platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {processor()}{cores} cores, one thread each{blas}"
    )


def processor() -> str:
    """The processor's name and a comma; nothing where the system does not tell it. NumPy's loops and its BLAS choose
    their code by it, so that two processors give other ratios."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]}, " if names else ""


def table(rows: list[Row], facts: dict[str, float], where: str) -> str:
    """The results as Markdown."""
    lines = []
    if rows:
        lines = ["| | NumPy | torch | glasstorch | ratio to torch | budget |", "|---|--:|--:|--:|--:|--:|"]
        for row in rows:
            ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
            cells = [_time(row.seconds.get(name)) for name in ("numpy", "torch", "glasstorch")]
            budget = "" if row.budget is None else f"{row.budget:g}"
            lines.append(f"| {row.name} | {' | '.join(cells)} | {ratio} | {budget} |")
        lines.append("")
    lines += [*listed(facts), "", f"Fastest of many short batches, in turn, in one run: {where}."]
    return "\n".join(lines)


def about_the_book(facts: dict[str, float], where: str) -> str:
    """Its numbers as Markdown."""
    return "\n".join([f"{BOOK}:", "", *listed(facts), "", f"In one run: {where}."])


def listed(facts: dict[str, float]) -> list[str]:
    """A line for each, with the most that it may be."""
    return [
        f"- {name}: {value:.{2 if 'seconds' in name else 0}f}"
        + (f" (at most {book.MOST[name]:g})" if name in book.MOST else "")
        for name, value in facts.items()
    ]


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.2f} us"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def save(rows: list[Row], facts: dict[str, float], where: str, of: str = "cpu") -> None:
    """Keep the numbers, dated, for the chapters and for comparison; `of` ends the file's name."""
    RESULTS.mkdir(exist_ok=True)
    record = {
        "where": where,
        "rows": [{"name": r.name, "seconds": r.seconds, "ratio": r.ratio, "budget": r.budget} for r in rows],
        "facts": facts,
    }
    path = RESULTS / f"{date.today().isoformat()}-{of}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
