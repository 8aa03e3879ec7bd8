"""Which functions may a chapter's cell call besides the library?

`show` quotes source by name, so that the book never holds a copy of the library's code. `compare_with_torch`
shows what a program printed under PyTorch 2.13, and runs it again where that is installed. `show_trace`,
`show_keys`, `draw_graph`, `draw_program`, `show_memory`, `show_memory_map`, `show_curves` and `show_images` draw live
objects. What they display is the same on every machine.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import inspect
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType, FunctionType, MethodType, ModuleType, TracebackType
from typing import NamedTuple

from workbook.book.behaviours import behaviour, comparable, observed
from workbook.book.figures.live import draw_graph as draw_graph
from workbook.book.figures.live import draw_program as draw_program
from workbook.book.figures.live import show_curves as show_curves
from workbook.book.figures.live import show_images as show_images
from workbook.book.figures.live import show_keys as show_keys
from workbook.book.figures.live import show_memory as show_memory
from workbook.book.figures.live import show_memory_map as show_memory_map
from workbook.book.figures.live import show_trace as show_trace
from workbook.book.project import project_root

ORACLE = "2.13"  # the series of torch whose output is recorded
MARKUP = re.compile(r"[_*`<\[\]\\]")  # what Markdown would read as more than a letter
IDENTITY = re.compile(r"B\d{3}")
# fmt: off
LANGUAGES = {
    ".py": "python", ".pyi": "python", ".yaml": "yaml", ".cu": "cuda", ".cuh": "cuda", ".h": "cpp", ".cpp": "cpp",
}
# fmt: on

Quotable = FunctionType | MethodType | type | ModuleType | TracebackType | FrameType


class Shown(NamedTuple):
    """Something to look at, in a notebook and in a terminal: a caption, and blocks of code or text."""

    role: str  # how the site dresses it: CSS classes
    caption: str
    blocks: tuple[tuple[str, str], ...]  # a language ("text" for output) and the text

    def __repr__(self) -> str:
        return "\n\n".join([self.caption, *(text for _, text in self.blocks)])

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        """What Jupyter shows; the role is passed along with the Markdown, for the renderer."""
        fences = [f"```{language}\n{text}\n```" for language, text in self.blocks]
        caption = MARKUP.sub(r"\\\g<0>", self.caption)
        markdown = "\n\n".join([f"*{caption}*", *fences])
        return {"text/plain": repr(self), "text/markdown": markdown}, {"text/markdown": {"role": self.role}}


def show(thing: object, entry: str | None = None) -> None:
    """Quote the source of a function, class, method, property or module, given itself or by its dotted name.

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
        title, code, output = f"{found.title} ({found.identity})", found.code, found.output
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


def display(shown: Shown) -> None:
    """Display in the notebook, or print outside of one."""
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        sys.modules["IPython"].display.display(shown)
    else:
        print(repr(shown))


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
    lines, _ = inspect.getsourcelines(target)
    return quotation(file, lines, getattr(target, "__qualname__", "").replace(".<locals>", ""))


def named(name: str) -> object:
    """The object with a dotted name: the longest importable module, then attributes."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        module = ".".join(parts[:count])
        try:
            found: object = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise  # the module is there and lacks something of its own
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                raise LookupError(f"show({name!r}): {module} has no {'.'.join(parts[count:])}")
            found = getattr(found, part)
        return found
    raise LookupError(f"show({name!r}): no module named {parts[0]}")


def source_file(target: Quotable) -> Path | None:
    """The file that contains the object's source."""
    try:
        file = inspect.getsourcefile(target)
    except TypeError:  # built in
        return None
    return Path(file) if file is not None and Path(file).is_file() else None


def quotation_of_entry(path: str, entry: str) -> Shown:
    """The entry of a name in a file of the library: a row of a table, or a function or structure in CUDA C++."""
    spec = importlib.util.find_spec("glasstorch")
    assert spec is not None, "the library is installed where its book is read"
    file = Path((spec.submodule_search_locations or [""])[0]) / path
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    finds, kind = ENTRIES.get(file.suffix, (definition, "definition of"))
    body = finds(lines, entry)
    if not body:
        raise LookupError(f"show({path!r}, {entry!r}): {path} has no {kind} {entry!r}")
    return quotation(file, body, entry)


def row(lines: list[str], entry: str) -> list[str]:
    """The row of a yaml table that declares this operator; empty if there is none."""
    starts = [number for number, line in enumerate(lines) if line.startswith("- ")]
    heads = re.compile(rf"- \w+: {re.escape(entry)}(?![\w.])")
    first = next((number for number in starts if heads.match(lines[number])), None)
    if first is None:
        return []
    end = next((number for number in starts if number > first), len(lines))
    return [line for line in lines[first:end] if not line.startswith("#")]


def call(lines: list[str], entry: str) -> list[str]:
    """The line of a Python module that calls a function with this name first, after a table: `row("t", ...)`."""
    names = re.compile(rf"@?\w+\((\w+, )?[\"']{re.escape(entry)}[\"']")
    return [line for line in lines if names.match(line)][:1]


def definition(lines: list[str], name: str) -> list[str]:
    """A function or structure of C++ with the comment and the template line above it; empty if there is none.

    It ends at the first brace that stands as far to the right as its own first line.
    """
    heads = re.compile(rf"(?!\s*//).*\b{re.escape(name)}\b\s*(\(|\{{|$)")
    first = next((n for n, line in enumerate(lines) if heads.match(line) and not line.rstrip().endswith(";")), None)
    if first is None:
        return []
    indent = re.match(r"\s*", lines[first])[0]  # type: ignore[index]
    whole = "{" in lines[first] and lines[first].rstrip().endswith("}")
    end = first if whole else next(n for n in range(first, len(lines)) if re.match(rf"{indent}\}}", lines[n]))
    while first and re.match(rf"{indent}(//|template|extern|__global__)", lines[first - 1]):
        first -= 1
    return lines[first : end + 1]


# What quotes an entry of a file, by its suffix, and how the entry is called; of other files it is a definition in C++.
ENTRIES: dict[str, tuple[Callable[[list[str], str], list[str]], str]] = {
    ".yaml": (row, "row for"),
    ".py": (call, "row for"),
}


def quotation(file: Path, lines: Iterable[str], name: str) -> Shown:
    """Lines of a file, with their location as the caption: by name, which stays valid when lines move."""
    text = textwrap.dedent("".join(lines)).rstrip()
    language = LANGUAGES.get(file.suffix, "text")
    return Shown("quote", ", ".join(filter(None, (short_name(file), name))), ((language, text),))


def short_name(file: Path) -> str:
    """A source file's path from its top package on, which is the same in every installation."""
    top = file.parent
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    return file.relative_to(top.parent).as_posix()
