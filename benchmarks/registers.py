"""What does each CUDA kernel take on a card: registers, shared memory, spilled bytes?

    python -m benchmarks.registers      compile all, print the largest, and keep the report in `results/`

NVRTC compiles on a machine without a card, so this says nothing about speed.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import pkgutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import NamedTuple

from glasstorch.devices import modules, nvrtc
from glasstorch.kernels import cuda

RESULTS = Path(__file__).resolve().parent / "results"
ARCHITECTURES = ("sm_80", "sm_90")  # A100; H100 and H200
# These launch nothing of their own, and import what need not be there.
DRIVERS = ("driver_cupy", "driver_sim", "sim")


class Program(NamedTuple):
    """One file with one set of defines, and all that is instantiated from it."""

    file: str
    defines: tuple[str, ...]
    expressions: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.file, *(f"-D{define}" for define in self.defines)))


def declared() -> set[tuple[str, str, tuple[str, ...]]]:
    """All kernels that the Python files of the package say they may launch: file, expression, defines."""
    found: set[tuple[str, str, tuple[str, ...]]] = set()
    for module in pkgutil.walk_packages(cuda.__path__, f"{cuda.__name__}."):
        if module.name.rpartition(".")[2] not in DRIVERS:
            instantiations = getattr(importlib.import_module(module.name), "instantiations", None)
            found.update(instantiations() if instantiations else ())
    return found


def programs() -> list[Program]:
    """The declared kernels, those that can be compiled together in one program."""
    groups: dict[tuple[str, tuple[str, ...]], set[str]] = defaultdict(set)
    for file, expression, defines in declared():
        groups[file, defines].add(expression)
    return [Program(file, defines, tuple(sorted(groups[file, defines]))) for file, defines in sorted(groups)]


def compile(program: Program, architecture: str) -> nvrtc.Compiled:
    """Compile one program as the CuPy driver does."""
    templates = [expression for expression in program.expressions if not expression.isidentifier()]
    options = [f"-D{define}" for define in program.defines]
    return nvrtc.compiled(modules.source(program.file), program.file, architecture, templates, options)


def compile_all(
    chosen: Iterable[Program], architectures: Iterable[str] = ARCHITECTURES
) -> Iterator[tuple[Program, str, nvrtc.Compiled]]:
    """Compile the programs for these architectures, on as many threads as there are cores."""
    tasks = list(itertools.product(chosen, architectures))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (program, architecture), compiled in zip(tasks, pool.map(lambda task: compile(*task), tasks), strict=True):
            yield program, architecture, compiled


Report = dict[str, dict[str, dict[str, dict[str, int]]]]  # program -> kernel -> architecture -> what it takes


def report(compiled_programs: Iterable[tuple[Program, str, nvrtc.Compiled]]) -> Report:
    """What the kernels of the programs take, as `compile_all` gives them; zeros are left out."""
    found: Report = {}
    for program, architecture, compiled in compiled_programs:
        print(f"  compiled {program} for {architecture}", file=sys.stderr, flush=True)
        for kernel, usage in sorted(compiled.usage.items()):
            taken = {name: value for name, value in usage._asdict().items() if value}
            found.setdefault(str(program), {}).setdefault(kernel, {})[architecture] = taken
    return found


def table(found: Report) -> str:
    """For each file, how many kernels it has and the most that one of them takes, as Markdown."""
    files: dict[str, list[dict[str, int]]] = defaultdict(list)
    for program, kernels in found.items():
        for taken in kernels.values():
            files[program.partition(" ")[0]].extend(taken.values())
    lines = ["| | kernels | registers | shared bytes | stack bytes | spilled bytes |", "|---|--:|--:|--:|--:|--:|"]
    for file, rows in files.items():
        most = [max(row.get(name, 0) for row in rows) for name in ("registers", "shared", "stack", "spilled")]
        lines.append(f"| {file} | {len(rows) // len(ARCHITECTURES)} | {' | '.join(map(str, most))} |")
    return "\n".join([*lines, "", f"The most that one kernel of the file takes: {where()}."])


def where() -> str:
    """What was compiled, by what and when."""
    return f"{date.today().isoformat()}, {by()}"


def by() -> str:
    """The compiler, and for what it compiled; two reports by the same can be compared."""
    major, minor = nvrtc.version()
    return f"NVRTC {major}.{minor}, {' and '.join(ARCHITECTURES)}"


def kept() -> tuple[str, Report]:
    """The newest report that is kept: what was compiled, by what and when; what the kernels take."""
    newest = max(RESULTS.glob("*-nvrtc.json"))
    found = json.loads(newest.read_text(encoding="utf-8"))
    return found["where"], found["programs"]


def as_json(found: Report) -> str:
    """The report with a line for each kernel."""
    programs = []
    for program, kernels in found.items():
        lines = ",\n".join(f"   {json.dumps(kernel)}: {json.dumps(taken)}" for kernel, taken in kernels.items())
        programs.append(f"  {json.dumps(program)}: {{\n{lines}\n  }}")
    text = ",\n".join(programs)
    return f'{{\n "where": {json.dumps(where())},\n "programs": {{\n{text}\n }}\n}}\n'


def main() -> int:
    """Compile everything, print a table, and keep the report."""
    found = report(compile_all(programs()))
    print(table(found))
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{date.today().isoformat()}-nvrtc.json"
    path.write_text(as_json(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
