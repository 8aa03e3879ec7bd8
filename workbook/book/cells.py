"""Which functions may a chapter's cell call besides the library?

`show` quotes source by name, so that the book never holds a copy of the library's code; of what an exercise asks for
it shows the outline only, and `show_calls` and `show_counterexamples` show what that does. `compare_with_torch` shows
what a program printed under PyTorch 2.13, and runs it again where that is installed. `show_trace`, `show_keys`,
`show_table`, `draw_graph`, `draw_program`, `draw_nodes`, `show_memory`, `show_memory_map`, `show_module`,
`show_profile`, `show_curves` and `show_images` draw live objects, `show_lanes` and `show_bars` what a cell has found,
and `LiveCurves` draws what is not finished yet. `show_cost` counts what a gradient costs; `counted_calls`,
`watched_results`, `numbers_saved` and `peak_memory` count a program's operators and its memory. `measured` reads the
times that a benchmark has kept, and shows them with the place and the day; `trace_file` reads what a profile writes.
`steps_of` executes a function's bytecode as a capture does. `example` gives what a program in `examples/` defines.
`imports_of`, `reading_order`, `mirrors_of` and `layer_faults` read the library's own sources. `altered` puts another
value in a name's place. `schemas_of`, `generated_lines`, `generated_kernels` and `refusal_of` say what the generator
makes of a row, and `on_trial` registers its operator.
What they display is the same on every machine.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import re
import shutil
import textwrap
from collections.abc import Iterable
from pathlib import Path
from types import FrameType, FunctionType, MethodType, ModuleType, TracebackType

from workbook.book.altering import altered as altered
from workbook.book.behaviours import behaviour, comparable, observed
from workbook.book.calls import show_calls as show_calls
from workbook.book.calls import show_counterexamples as show_counterexamples
from workbook.book.costs import show_cost as show_cost
from workbook.book.counting import counted_calls as counted_calls
from workbook.book.counting import numbers_saved as numbers_saved
from workbook.book.counting import peak_memory as peak_memory
from workbook.book.counting import watched_results as watched_results
from workbook.book.entries import ENTRIES, definition
from workbook.book.example_programs import example as example
from workbook.book.figures.growing import LiveCurves as LiveCurves
from workbook.book.figures.live import draw_graph as draw_graph
from workbook.book.figures.live import draw_nodes as draw_nodes
from workbook.book.figures.live import draw_program as draw_program
from workbook.book.figures.live import show_bars as show_bars
from workbook.book.figures.live import show_curves as show_curves
from workbook.book.figures.live import show_images as show_images
from workbook.book.figures.live import show_keys as show_keys
from workbook.book.figures.live import show_lanes as show_lanes
from workbook.book.figures.live import show_memory as show_memory
from workbook.book.figures.live import show_memory_map as show_memory_map
from workbook.book.figures.live import show_module as show_module
from workbook.book.figures.live import show_profile as show_profile
from workbook.book.figures.live import show_table as show_table
from workbook.book.figures.live import show_trace as show_trace
from workbook.book.frames import steps_of as steps_of
from workbook.book.measured import measured as measured
from workbook.book.named import named
from workbook.book.project import project_root
from workbook.book.rooms import imports_of as imports_of
from workbook.book.rooms import layer_faults as layer_faults
from workbook.book.rooms import mirrors_of as mirrors_of
from workbook.book.rooms import reading_order as reading_order
from workbook.book.showing import Shown as Shown
from workbook.book.showing import display
from workbook.book.traces import trace_file as trace_file
from workbook.book.trial_operators import generated_kernels as generated_kernels
from workbook.book.trial_operators import generated_lines as generated_lines
from workbook.book.trial_operators import on_trial as on_trial
from workbook.book.trial_operators import refusal_of as refusal_of
from workbook.book.trial_operators import schemas_of as schemas_of
from workbook.book.withheld import asked_in, excerpt, library, masked, note_on

ORACLE = "2.13"  # the series of torch whose output is recorded
TO_EXERCISES = "../exercises/"  # from a section, and from a lab sheet, to the pages of the exercises
IDENTITY = re.compile(r"B\d{3}")
# fmt: off
LANGUAGES = {
    ".py": "python", ".pyi": "python", ".yaml": "yaml", ".cu": "cuda", ".cuh": "cuda", ".h": "cpp", ".cpp": "cpp",
}
# fmt: on

Quotable = FunctionType | MethodType | type | ModuleType | TracebackType | FrameType


def show(thing: object, entry: str | None = None) -> None:
    """Quote the source of a function, class, method, property or module, given itself or by its dotted name.

    What an exercise asks for is never quoted: its signature and its docstring stand there, and the exercise.

    With `entry`, `thing` is the path of a file in the library, and what it says under that name is quoted, a row of a
    table or a definition in CUDA C++: `show("operators/native_functions.yaml", "add.Tensor")`,
    `show("autograd/generated/inplace_or_view_kernels.py", "t")`, `show("kernels/cuda/rows.cuh", "together")`.
    """
    display(quotation_of_entry(str(thing), entry) if entry is not None else quotation_of(thing))


def compare_with_torch(what: str, expected: str | None = None, *, needs: str | None = None) -> None:
    """Show what PyTorch 2.13 printed: a recorded behaviour by its id, or a program with its expected output.

    Where torch 2.13 is installed the program is run again; an output that differs raises AssertionError. `needs` names
    a command that torch itself starts for this program: where there is none, the program is not run again.
    """
    if expected is None:
        found = behaviour(what, project_root())
        title, code, output = found.title, found.code, found.output
    elif IDENTITY.fullmatch(what):
        raise TypeError(f"compare_with_torch({what!r}, ...): a recorded behaviour brings its own output")
    else:
        title, code, output = "", what.strip(), comparable(expected.strip("\n"))
    if torch_is_the_oracle() and (needs is None or shutil.which(needs) is not None):
        now = observed(code)
        if now != output:
            changes = "\n".join(
                difflib.unified_diff(output.split("\n"), now.split("\n"), "recorded", "now", lineterm="")
            )
            raise AssertionError(f"torch {ORACLE} does not print what is recorded\n{changes}")
    caption = f"PyTorch {ORACLE}: {title}" if title else f"PyTorch {ORACLE}"
    display(Shown("quote torch", caption, (("python", code), ("text", output))))


def torch_is_the_oracle() -> bool:
    """Whether the torch whose output is recorded is installed."""
    if importlib.util.find_spec("torch") is None:
        return False
    return str(importlib.import_module("torch").__version__).startswith(f"{ORACLE}.")


def quotation_of(thing: object) -> Shown:
    """The source of a Python object, as in its file."""
    target = named(thing) if isinstance(thing, str) else thing
    if isinstance(target, property):
        target = target.fget
    if callable(target) or hasattr(target, "__wrapped__"):  # a slot of kernels is not callable
        target = inspect.unwrap(target)  # type: ignore[arg-type]
    if not isinstance(target, Quotable) or (file := source_file(target)) is None:
        raise TypeError(
            f"show({thing!r}): {type(target).__name__} has no Python source\n"
            "  accepted: a function, class, method, property or module written in Python, or its dotted name"
        )
    lines, first = inspect.getsourcelines(target)
    start = max(first - 1, 0)  # a module's lines are counted from 0, all others from 1
    quoted = excerpt(file, range(start, start + len(lines)))
    return quotation(file, quoted, getattr(target, "__qualname__", "").replace(".<locals>", ""))


def source_file(target: Quotable) -> Path | None:
    """The file that contains the object's source."""
    try:
        file = inspect.getsourcefile(target)
    except TypeError:  # built in
        return None
    return Path(file) if file is not None and Path(file).is_file() else None


def quotation_of_entry(path: str, entry: str) -> Shown:
    """The entry of a name in a file of the library: a row of a table, or a function or structure in CUDA C++."""
    file = library() / path
    lines = "".join(masked(file)).splitlines(keepends=True)
    finds, kind = ENTRIES.get(file.suffix, (definition, "definition of"))
    body = finds(lines, entry)
    if not body:
        raise LookupError(f"show({path!r}, {entry!r}): {path} has no {kind} {entry!r}")
    return quotation(file, body, entry)


def quotation(file: Path, lines: Iterable[str], name: str) -> Shown:
    """Lines of a file, with their location as the caption: by name, which stays valid when lines move."""
    text = textwrap.dedent("".join(lines)).rstrip()
    language = LANGUAGES.get(file.suffix, "text")
    asked = asked_in(file, text)
    caption = ", ".join(filter(None, (short_name(file), name)))
    return Shown("quote withheld" if asked else "quote", caption, ((language, text),), note_on(asked, TO_EXERCISES))


def short_name(file: Path) -> str:
    """A source file's path from its top package on, which is the same in every installation."""
    top = file.parent
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    return file.relative_to(top.parent).as_posix()
