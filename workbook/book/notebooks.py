"""How does a text chapter become an executed notebook, with the same bytes each time?

A section is a MyST Markdown file (`tour.md`); the notebook that readers open (`tour.ipynb`) stands beside it,
executed and committed. Nothing in it depends on when or where it was built: cell ids come from the cells'
content, there are no timestamps, the metadata is fixed, and an output that shows a memory address or a path
of the machine is refused.

    python -m workbook.book.notebooks [PATHS]            build the notebooks of these files or folders
    python -m workbook.book.notebooks --check [PATHS]    execute again and compare with the committed bytes
    python -m workbook.book.notebooks --in-step [PATHS]  compare with the text only; nothing is executed

Without PATHS it is every section of the book and every lab sheet.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from workbook.book.errors import BookError, last_line
from workbook.book.notebook_checks import COMMAND, check_in_step, check_rebuilt
from workbook.book.notebook_text import CODE_CELL, RAISES, as_text, notebook_sources, read_text
from workbook.book.project import LABS, project_root, shown
from workbook.book.question_cells import evaluate_answer
from workbook.predictions.questions import ASK
from workbook.progress import Progress

CELL_TIMEOUT = 300  # seconds
FRAME = re.compile(r"^  File (?P<path>.+?):(?P<line>\d+)(?P<rest>.*)$", re.MULTILINE)
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")


# --- execution ----------------------------------------------------------------------------------------------


@contextmanager
def workplace(source: Path, root: Path) -> Iterator[Path]:
    """The folder in which the cells run: the text's own, or for a lab sheet a copy of it with the solution."""
    if root / LABS not in source.parents:
        yield source.parent
        return
    from workbook.exercises.labs import solved_beside

    with solved_beside(source) as folder:
        yield folder


async def executed(source: Path, root: Path, folder: Path, report: Callable[[int, int], None]) -> NotebookNode:
    """The notebook with the outputs of a fresh kernel that works in `folder`.

    `report` is told how many of how many code cells are done.
    """
    notebook = read_text(source)
    total = sum(is_own(cell) for cell in notebook.cells)
    with tempfile.TemporaryDirectory() as ipython_folder:
        client = NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT,
            kernel_name="python3",
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,  # how a stream was cut into messages depends on the machine's speed
            extra_arguments=[
                "--InteractiveShell.xmode=Plain",
                "--InteractiveShell.colors=NoColor",
                "--HistoryManager.enabled=False",
                "--log-level=ERROR",
            ],
            resources={"metadata": {"path": str(folder)}},
        )
        try:
            async with client.async_setup_kernel(env=kernel_environment(root, ipython_folder)):
                await execute_cells(client, source, root, total, report)
        except DeadKernelError as error:
            raise BookError(
                f"{shown(source)}: the kernel died\n  run the cells one by one in Jupyter to see which one ends it"
            ) from error
    return notebook


async def execute_cells(
    client: NotebookClient, source: Path, root: Path, total: int, report: Callable[[int, int], None]
) -> None:
    """Run the cells in order; the first one that does other than it says ends the build."""
    number = 0
    for index, cell in enumerate(client.nb.cells):
        if cell.cell_type != "code":
            continue
        number += is_own(cell)
        place = f"{shown(source)}:{code_cell_line(source, max(number, 1))}: code cell {number}"
        try:
            await client.async_execute_cell(cell, index)
        except CellExecutionError as error:
            raise BookError(
                f"{place} raised\n  {error.ename}: {last_line(error.evalue)}\n{raised_at(cell)}"
                f"  fix the cell and run: {COMMAND} {shown(source)}\n"
                "  (a cell that is meant to raise carries the tag `failure`)"
            ) from error
        except CellTimeoutError as error:
            raise BookError(
                f"{place} ran longer than {CELL_TIMEOUT} seconds and was stopped\n  give it less to do"
            ) from error
        if "failure" in cell.metadata.get("tags", []):
            raised = next((out for out in cell.outputs if out.output_type == "error"), None)
            if raised is None:
                raise BookError(
                    f"{place} is tagged `failure` but raised nothing\n  remove the tag, or make the cell raise"
                )
            if (wanted := cell.metadata.get(RAISES, raised.ename)) != raised.ename:
                raise BookError(
                    f"{place} raised another error than {wanted}\n"
                    f"  {raised.ename}: {last_line(raised.evalue)}\n{raised_at(cell)}"
                    f"  fix the cell, or its option `{RAISES}`"
                )
        if not is_own(cell):
            cell.outputs = []  # what a kernel shows there is not for a reader without one
        cell.outputs = [tidied(output, root) for output in cell.outputs]
        if volatile := volatile_text(cell.outputs, root):
            raise BookError(
                f"{place} prints {volatile!r}, which differs from run to run or from machine to machine\n"
                "  print something else there"
            )
        if (told := cell.metadata.get("prediction")) is not None:
            await evaluate_answer(client, cell, told, place)
        report(number, total)


def is_own(cell: NotebookNode) -> bool:
    """Whether the cell is a code cell of the text, and not one that the builder added."""
    return cell.cell_type == "code" and ASK not in cell.metadata.get("tags", [])


def kernel_environment(root: Path, ipython_folder: str) -> dict[str, str]:
    """The environment of every kernel: our packages on the path, no start-up files, dates of 1970."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # where it is set, large generated modules compile at each import
    ours = [str(root / "reference"), str(root)]
    environment["PYTHONPATH"] = os.pathsep.join([*ours, *filter(None, [environment.get("PYTHONPATH")])])
    environment["IPYTHONDIR"] = ipython_folder
    environment["SOURCE_DATE_EPOCH"] = "0"
    return environment


def tidied(output: NotebookNode, root: Path) -> NotebookNode:
    """An output without anything specific to this run or this machine."""
    if output.output_type == "error":
        text = "".join(output.traceback)
        output.traceback = (
            FRAME.sub(lambda frame: f"  {short_path(frame['path'], root)}{frame['rest']}", text).rstrip().splitlines()
        )
    return output


def short_path(path: str, root: Path) -> str:
    """A source path that is the same on every machine, without its line, which may change."""
    expanded = Path(path).expanduser()
    for base in (root / "reference", root):
        if expanded.is_relative_to(base):
            if "site-packages" not in expanded.parts:
                return expanded.relative_to(base).as_posix()
            break
    parts = expanded.parts
    for anchor in ("site-packages", f"python{sys.version_info.major}.{sys.version_info.minor}"):
        if anchor in parts:
            return "/".join(parts[len(parts) - parts[::-1].index(anchor) :])
    return expanded.name


def volatile_text(outputs: Iterable[NotebookNode], root: Path) -> str | None:
    """The first memory address or machine path among the outputs' text."""
    for output in outputs:
        texts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", [])]
        texts += [str(value) for kind, value in output.get("data", {}).items() if not kind.startswith("image/png")]
        for text in texts:
            if address := ADDRESS.search(text):
                return address.group()
            for folder in (str(root), sys.prefix, str(Path.home())):
                if len(folder) > 1 and re.search(re.escape(folder) + r"(?=[\\/])", text):
                    return folder
    return None


def code_cell_line(source: Path, number: int) -> int:
    """The line of the text at which the code cell with this number (from 1) begins."""
    lines = source.read_text(encoding="utf-8").splitlines()
    return [place for place, line in enumerate(lines, start=1) if CODE_CELL.match(line)][number - 1]


def raised_at(cell: NotebookNode) -> str:
    """The line of the cell that raised, quoted from its traceback."""
    for output in cell.outputs:
        if output.output_type == "error":
            for frame in re.finditer(r"Cell In\[\d+\], line (\d+)", "".join(output.traceback)):
                lines = cell.source.splitlines()
                place = int(frame.group(1))
                if place <= len(lines):
                    return f"  at line {place} of the cell: {lines[place - 1].strip()}\n"
    return ""


# --- the command --------------------------------------------------------------------------------------------


def build(
    sources: Sequence[Path],
    root: Path,
    *,
    check: bool = False,
    jobs: int | None = None,
    report: Callable[[str], None] = lambda what: None,
) -> list[BookError]:
    """Execute the sections and write (or with `check` compare) their notebooks.

    `report` is told what has just been done. Returns what went wrong, one error a section.
    """

    async def one(source: Path, turn: asyncio.Semaphore) -> BookError | None:
        async with turn:
            try:
                with workplace(source, root) as folder:
                    notebook = await executed(
                        source, root, folder, lambda cell, cells: report(f"{shown(source)}: {cell} of {cells} cells")
                    )
                if check:
                    check_rebuilt(source, as_text(notebook))
                else:
                    source.with_suffix(".ipynb").write_text(as_text(notebook), encoding="utf-8", newline="\n")
            except BookError as error:
                return error
            return None

    async def every() -> list[BookError | None]:
        turn = asyncio.Semaphore(jobs or min(4, os.cpu_count() or 1))
        return await asyncio.gather(*(one(source, turn) for source in sources))

    return [error for error in asyncio.run(every()) if error is not None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0 if every notebook is up to date."""
    parser = argparse.ArgumentParser(prog=COMMAND, description="Build the book's notebooks from their text.")
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="sections (.md) or folders; default: all")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="execute again and compare with the committed bytes")
    how.add_argument("--in-step", action="store_true", help="compare with the text only; execute nothing")
    parser.add_argument("--jobs", type=int, help="notebooks executed at the same time (default: one a core, at most 4)")
    options = parser.parse_args(arguments)
    problems: list[BookError] = []
    try:
        root = project_root(options.paths[0] if options.paths else None)
        sources = notebook_sources(root, options.paths)
        if options.in_step:
            for source in sources:
                try:
                    check_in_step(source)
                except BookError as error:
                    problems.append(error)
        else:
            what = "comparing" if options.check else "executing"
            with Progress(f"{what} {len(sources)} notebook{'s' * (len(sources) != 1)}", sys.stderr) as progress:

                def report(detail: str) -> None:
                    progress.detail = detail

                problems = build(sources, root, check=options.check, jobs=options.jobs, report=report)
    except BookError as error:
        problems.append(error)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
