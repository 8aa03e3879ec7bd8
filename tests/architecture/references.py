"""Which names in text point into this repository, and which of them lead nowhere?

Text is all of Markdown, the comments and docstrings of Python, and the comments of yaml, TOML, CUDA C++ and C++. Two
kinds of names are looked for: paths of files (`core/storage.py`), which may begin at the top of the repository, at a
package, or in any folder above the file that has the name; and dotted names of modules and of what they hold. Paths of
PyTorch's repository are left alone, as is what a header says after `Mirrors:`.
"""

from __future__ import annotations

import ast
import fnmatch
import io
import os
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from workbook.book.named import named

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "reference" / "glasstorch"
PACKAGES = {"glasstorch": LIBRARY, **{name: ROOT / name for name in ("workbook", "tests", "benchmarks")}}
TEXTS = {".md", ".py", ".pyi", ".yaml", ".yml", ".toml", ".cu", ".cuh", ".h", ".hpp", ".cpp"}
LEFT_OUT = {"__pycache__", "node_modules", "site", "vendor", "generated", "kept"}  # and those that begin with a dot

# How paths begin in PyTorch's repository, and names of files that its texts give without a folder.
PYTORCH = re.compile(
    r"(aten|ATen|c10|caffe2|functorch|include|test|third_party|tools|torch|torchgen)/|[^/]*\.(cpp|cuh?)$"
)
PYTORCHS_PYTHON = {"gen_python_functions.py", "partitioners.py", "common_utils.py", "common_device_type.py"}

# Files and folders that are not in the repository, and why.
ELSEWHERE = {
    "answer.py": "a reader writes it",
    "my_lab.ipynb": "a reader's copy",
    "answer-1.py": "what `workbook reset` keeps",
    "progress.json": "a reader's progress",
    "program.json": "a part of a saved program of the former format",
    "__torch__.py": "a part of a saved program",
    "__torch__/": "a folder of a saved program",
    "predictions.json": "what a page of the book exports",
    "faulty/glasstorch/": "a reader's copy of the library, with a fault in it",
    "script.py": "a user's program",
    "mine.py": "a user's program",
    "train.py": "a user's program",
    "check_class.py": "a teacher's program",
    "wrong_size_zero.py": "what `workbook dev wrong` writes",
    "tour.md": "an example of a section",
    "tour.ipynb": "an example of a notebook",
    "shortcut.py": "a file that a chapter makes and removes",
    "site-packages/torch/": "where PyTorch is installed",
    "assets/vendor/": "a folder of the built book",
    "jit/fuser/": "the name that a decision is against",
}
BUILT = re.compile(
    r"exercises/\d\d\.\d+-\w+\.md|reference/(api|operators)/[\w-]+\.md"
)  # pages that the book's builder makes
PLACEHOLDER = re.compile(r"NNNN|NAME|JOB")
MADE_UP = {"glasstorch.randprm", "glasstorch.a", "glasstorch.a.b"}  # examples of names

FILE = r"[\w*-][\w.*-]*\.(?:pyi?|ya?ml|cuh?|cpp|md|ipynb|toml|json|diff|svg)"
PATH = re.compile(rf"(?<![\w./:<{{$~*-])((?:[\w*-][\w.*-]*/)*{FILE})(?![\w/{{]|\.\w)")
DOTTED = re.compile(r"(?<![\w./:-])((?:glasstorch|workbook)(?:\.(?!(?:json|pth|exe)\b)[^\W\d]\w*)+)(?![\w/]|-\w|\.\w)")
ROOMS = "|".join(sorted(path.name for path in LIBRARY.iterdir() if path.is_dir() and path.name[0] != "_"))
IN_ROOM = re.compile(rf"`((?:{ROOMS})(?:\.(?!py\b)[^\W\d]\w*)+)`")  # in backquotes: `core.geometry.view_strides`
FOLDER = re.compile(r"`((?:[\w-]+/){2,})`")  # in backquotes, too: `kernels/cpu/`
DEFINED = re.compile(r"^(?:def |class )?(\w+)(?=[\s(:])", re.MULTILINE)
COMMENT = re.compile(r"(?:^|\s)(?:#|//)(.*)$")
MIRRORS = re.compile(r"^\W*Mirrors:.*?(?=^\W*Differs:|^\"\"\"|^ *$)", re.MULTILINE | re.DOTALL)


@cache
def files() -> frozenset[str]:
    """The paths of all files of the repository, seen from its top; what is built or ignored is left out."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in LEFT_OUT - {"generated", "vendor"} and name[0] != "."]
        found += [(Path(folder) / name).relative_to(ROOT).as_posix() for name in names]
    return frozenset(found)


@cache
def bare_names() -> frozenset[str]:
    """The names of all files, without their folders."""
    return frozenset(name.rpartition("/")[2] for name in files())


def texts() -> Iterator[Path]:
    """The files whose text is read."""
    for name in sorted(files()):
        path = ROOT / name
        if path.suffix in TEXTS and not (LEFT_OUT | ELSEWHERE.keys()).intersection(Path(name).parts):
            yield path


def problems(file: Path, text: str) -> list[str]:
    """The names in a text of this file that lead nowhere, each with its line."""
    text = MIRRORS.sub(lambda mirrors: "\n" * mirrors[0].count("\n"), text)
    broken = [(match.start(1), match[1]) for match in PATH.finditer(text) if not is_path(match[1], file)]
    broken += [(match.start(1), match[1]) for match in DOTTED.finditer(text) if not is_name(match[1])]
    broken += [(match.start(1), match[1]) for match in IN_ROOM.finditer(text) if not is_name(f"glasstorch.{match[1]}")]
    broken += [(match.start(1), match[1]) for match in FOLDER.finditer(text) if not is_folder(match[1], file)]
    if not broken:
        return []
    lines = spoken_lines(file, text)
    name = file.relative_to(ROOT).as_posix()
    found = []
    for start, said in sorted(broken):
        number = text.count("\n", 0, start) + 1
        if said in lines.get(number, ""):
            found.append(f"{name}:{number}: {said} leads nowhere")
    return found


def spoken_lines(file: Path, text: str) -> dict[int, str]:
    """What each line of a file says to a person: a line of Markdown, else its comment or its part of a docstring."""
    lines = dict(enumerate(text.splitlines(), start=1))
    if file.suffix == ".md":
        return lines
    if file.suffix not in {".py", ".pyi"}:
        return {number: said[1] for number, line in lines.items() if (said := COMMENT.search(line))}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            found |= {number: lines[number] for number in range(docstring.lineno, (docstring.end_lineno or 0) + 1)}
    return found


def is_path(path: str, file: Path) -> bool:
    """Whether a path that stands in `file` is that of a file here, or may be one of another place."""
    bare = path.rpartition("/")[2]
    if bare in ELSEWHERE or bare in PYTORCHS_PYTHON or BUILT.fullmatch(path) or PLACEHOLDER.search(path):
        return True
    if bare == path and is_among(path, bare_names()):
        return True
    if any(is_among((start / path).relative_to(ROOT).as_posix(), files()) for start in starts(file)):
        return True
    return PYTORCH.match(path) is not None


def is_folder(path: str, file: Path) -> bool:
    """The same for the path of a folder."""
    return (
        path in ELSEWHERE or PYTORCH.match(path) is not None or any((start / path).is_dir() for start in starts(file))
    )


def starts(file: Path) -> set[Path]:
    """The folders in which a path that stands in `file` may begin."""
    return {folder for folder in file.parents if folder.is_relative_to(ROOT)} | {*PACKAGES.values(), LIBRARY.parent}


def is_among(path: str, known: frozenset[str]) -> bool:
    """Whether it is one of these; with `*` in it, whether it fits one."""
    return bool(fnmatch.filter(known, path)) if "*" in path else path in known


@cache
def is_name(name: str) -> bool:
    """Whether a dotted name is that of a module, or of something that a module holds."""
    if name in MADE_UP:
        return True
    package, *rest = name.split(".")
    place = PACKAGES[package]
    while rest and (place / rest[0]).is_dir():
        place /= rest.pop(0)
    if rest and (place / f"{rest[0]}.py").is_file():
        place /= f"{rest.pop(0)}.py"
    module = place if place.suffix else place / "__init__.py"
    if not rest or (len(rest) == 1 and module.is_file() and rest[0] in definitions(module)):
        return True  # without an import: it may need a card or torch
    try:
        named(name)
    except (ImportError, LookupError, AttributeError):
        return False
    return True


@cache
def definitions(module: Path) -> frozenset[str]:
    """The names with which lines of a module begin: its functions and classes, and what it gives values."""
    return frozenset(DEFINED.findall(module.read_text(encoding="utf-8")))
