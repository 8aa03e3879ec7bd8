"""Which fault was planted for a repair, and does an answer name its place and mend no more than that?

A repair (`form = "repair"`) ships `fault.diff` among the solutions: below a sentence about the fault, the difference
that it makes to one file of the library. The library with the fault is a copy, in which that file is another.
"""

from __future__ import annotations

import ast
import difflib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from workbook.exercises.answer_file import LIBRARY, NotStarted, Refused, read_answer, syntax_refusal
from workbook.exercises.catalogue import MENDED, Exercise, ExerciseError, Piece, from_top, read_text
from workbook.exercises.difference import DifferenceError, applied, hunks, moved
from workbook.exercises.report import Refusal

OURS = Path(__file__).resolve().parents[2] / "reference" / LIBRARY  # the library of the clone that this belongs to
MOST = 4  # lines that a mend may change
ASKED = "the file and the line of the fault"
ACCEPTED = "a faulty line: if it is removed or replaced, symptom.py ends without an error"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Fault:
    """A planted fault: where it is, and the file that it makes of the library's."""

    file: str  # below the library's folder: core/geometry.py
    function: str  # in which it is, with its class: Registry.find
    lines: tuple[int, ...]  # of the file with the fault, each of which names its place
    text: str  # the file with the fault
    about: str = ""  # a sentence for who has found it

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """The fault from the values of `as_json`."""
        return cls(**{**data, "lines": tuple(data["lines"])})

    def as_json(self) -> dict[str, Any]:
        """The fault as plain values."""
        return asdict(self)

    @property
    def module(self) -> str:
        """The module with the fault."""
        return module_of(self.file)

    @property
    def piece(self) -> Piece:
        """The mended function, as the piece that takes the place of the one with the fault."""
        return Piece("function", f"{self.module}:{self.function}", MENDED)


def module_of(file: str) -> str:
    """The module that a file of the library is.

    >>> module_of("core/geometry.py"), module_of("jit/__init__.py")
    ('glasstorch.core.geometry', 'glasstorch.jit')
    """
    return ".".join([LIBRARY, *Path(file).with_suffix("").parts]).removesuffix(".__init__")


def read_fault(exercise: Exercise) -> Fault:
    """The fault of a repair, planted in the library as it is now; its lines may have moved since it was written."""
    about, found, diff = read_text(exercise.fault).partition("\n--- ")
    file = diff.partition("\n")[0].strip()
    try:
        if not found or not (OURS / file).is_file():
            raise DifferenceError(f"`--- {file}` names no file below {OURS.name}/")
        intact = (OURS / file).read_text(encoding="utf-8")
        text = applied(intact, moved(intact, hunks(f"--- {diff}"), file), file)
        function, lines = place_of(intact, text)
    except (DifferenceError, SyntaxError) as error:
        raise ExerciseError(
            f"{from_top(exercise.fault)}: {error}\n"
            f"  accepted: a difference from a file of the library, in one of its functions"
        ) from error
    return Fault(file, function, lines, text, " ".join(about.split()))


def pieces(exercise: Exercise) -> tuple[Piece, ...]:
    """The pieces of an exercise, that of a repair with its target."""
    return (read_fault(exercise).piece,) if exercise.is_repair else exercise.pieces


def place_of(intact: str, text: str) -> tuple[str, tuple[int, ...]]:
    """The function with the fault, and the lines at which the fault may be said to be.

    They are those of the statements that differ. Where a line is missing, it is each line of the function.
    """
    differ = difflib.SequenceMatcher(None, intact.splitlines(), text.splitlines(), autojunk=False).get_opcodes()
    changes = [change for change in differ if change[0] != "equal"]
    tree = ast.parse(text)
    lines: set[int] = set()
    names = set()
    for kind, _, _, begin, end in changes:
        name, function = function_at(tree, begin if kind == "delete" else begin + 1)
        names.add(name)
        lines.update(range(function.lineno, (function.end_lineno or function.lineno) + 1) if kind == "delete" else ())
        lines.update(line for one in range(begin + 1, end + 1) for line in statement_at(function, one))
    if len(names) != 1:
        raise DifferenceError(f"it changes {len(names)} functions")
    return names.pop(), tuple(sorted(lines))


def functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """The functions of a module and the methods of its classes, by name."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{inner.name}", inner) for inner in node.body if isinstance(inner, Function))


def function_at(tree: ast.Module, line: int) -> tuple[str, Function]:
    """The function in which a line is."""
    for name, node in functions(tree):
        if min([node.lineno, *(one.lineno for one in node.decorator_list)]) <= line <= (node.end_lineno or 0):
            return name, node
    raise DifferenceError(f"line {line} is in no function")


def statement_at(function: Function, line: int) -> range:
    """The lines of the innermost statement at a line; of one with a body, those above the body."""
    found = range(line, line + 1)
    for node in ast.walk(function):  # outer ones first
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
            if line < end:
                found = range(node.lineno, end)
    return found


# --- the library with the fault ---


def plant(fault: Fault, folder: Path) -> None:
    """Copy the library to a folder that does not exist yet, with the fault in it."""
    shutil.copytree(OURS, folder / LIBRARY)  # what Python compiled is copied as well, and is still right
    (folder / LIBRARY / fault.file).write_text(fault.text, encoding="utf-8")


# --- the answer ---


@dataclass(frozen=True)
class Stated:
    """Where an answer says that the fault is, and its mended function if there is one."""

    file: str
    line: int
    mended: ast.FunctionDef | None
    written: bool  # whether the function is more than the stub's


def stated(answer: Path) -> Stated:
    """What an answer states; refuses one that is not Python, or does not say FILE and LINE as plain values."""
    try:
        tree = ast.parse(read_answer(answer))
    except SyntaxError as error:
        raise Refused(syntax_refusal(error, "an answer.py that Python can import")) from None
    except ValueError as error:  # a null byte, before Python 3.11.4
        raise Refused(Refusal(asked="an answer.py that Python can import", came=str(error))) from None
    values: dict[str, object] = {}
    mended = None
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Constant):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            values |= {target.id: node.value.value for target in targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.FunctionDef) and node.name == MENDED:
            mended = node
    file, line = values.get("FILE"), values.get("LINE")
    if not isinstance(file, str) or type(line) is not int:
        said = ", ".join(f"{name} = {values[name]!r}" for name in ("FILE", "LINE") if name in values)
        accepted = 'two lines such as FILE = "core/device.py" and LINE = 12, with plain values'
        raise Refused(Refusal(asked=ASKED, came=said or "answer.py has neither FILE nor LINE", accepted=accepted))
    written = mended is not None and not ast.unparse(mended.body[-1]).startswith("raise NotImplementedError")
    file = file.strip().replace("\\", "/").removeprefix("./").removeprefix("faulty/").removeprefix(f"{LIBRARY}/")
    return Stated(file, line, mended, written)


def judge(fault: Fault, answer: Path) -> None:
    """Raise Refused unless an answer names the place and mends no more than that; NotStarted for the stub."""
    said = stated(answer)
    if not said.file and not said.line:
        raise NotStarted("", None, "answer.py does not say yet where the fault is: FILE and LINE are as in the stub")
    check_place(fault, said)
    if said.mended is None or not said.written:
        came = "the place is right, but `mended` is not written yet"
        accepted = f"a copy of the function that contains line {said.line}, named `mended` and corrected"
        raise Refused(Refusal(asked="the function with the fault, mended", came=came, accepted=accepted))
    check_size(fault, said.mended)


def check_place(fault: Fault, said: Stated) -> None:
    """Raise Refused if the place is not that of the fault."""
    came = f"FILE = {said.file!r}, LINE = {said.line}"
    file = OURS / said.file
    if file.suffix != ".py" or ".." in said.file or not file.is_file():
        because = f"this file does not exist in faulty/{LIBRARY}/"
        raise Refused(Refusal(ASKED, "", came, 'a path such as "core/device.py"', because))
    text = fault.text if said.file == fault.file else file.read_text(encoding="utf-8")
    lines = text.splitlines()
    if not 1 <= said.line <= len(lines):
        raise Refused(Refusal(ASKED, "", came, f"a line of this file, from 1 to {len(lines)}"))
    came = f"line {said.line} of {said.file}: {lines[said.line - 1].strip() or '(an empty line)'}"
    if said.file != fault.file:
        because = "this file has no fault; the fault is in another one"
    elif said.line in fault.lines:
        return
    else:
        try:
            name = function_at(ast.parse(text), said.line)[0]
        except DifferenceError:
            name = ""
        same = name == fault.function
        where = f"in `{name}`, but not at this line" if same else "in this file, but in another part of it"
        because = f"the fault is {where}. Lines are counted in the file as it was shipped"
    raise Refused(Refusal(ASKED, "", came, ACCEPTED, because))


def check_size(fault: Fault, mended: ast.FunctionDef) -> None:
    """Raise Refused if a mended function is the one with the fault, or differs from it by more than a mend."""
    _, function = next(pair for pair in functions(ast.parse(fault.text)) if pair[0] == fault.function)
    before, after = plain(function), plain(mended)
    changed = 0
    for kind, begin, end, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        changed += max(end - begin, last - first) if kind != "equal" else 0
    asked, line = f"the function `{fault.function}`, mended", mended.lineno
    if not changed:
        raise Refused(Refusal(asked, "", "the function with the fault, unchanged", "a corrected one", "", line))
    if changed > MOST:
        came = f"{changed} of its {len(before)} lines differ (comments and layout do not count)"
        accepted = f"a change of {MOST} lines at most"
        because = "the rest of the function is correct, and other functions rely on it"
        raise Refused(Refusal(asked, "", came, accepted, because, line))


def plain(function: Function) -> Sequence[str]:
    """The lines of a function without its name, decorators, docstrings, comments and layout."""
    copy = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(copy, Function)
    copy.name, copy.decorator_list = MENDED, []
    for node in ast.walk(copy):
        if isinstance(node, Function) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(copy).splitlines()
