"""How is answer.py loaded, and what does the reader see of an error in it?

Of a traceback, only the frames of answer.py are shown.
"""

from __future__ import annotations

import io
import linecache
import sys
import tokenize
import traceback
import warnings
from pathlib import Path
from types import ModuleType, TracebackType

from workbook.exercises.report import Refusal
from workbook.exercises.value_text import cut, short

MODULE = "answer"
LIBRARY = "glasstorch"
FRAMES = 4  # places in answer.py, shown of a traceback


class Refused(AssertionError):
    """The answer is refused. Carries the message for the reader."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.because or refusal.came or refusal.asked)
        self.refusal = refusal


class NotStarted(Exception):
    """The stub's NotImplementedError was raised, or would be: nothing has been written at this line yet.

    `came` says so in other words, where it is no function that was not written.
    """

    def __init__(self, name: str, line: int | None, came: str = "") -> None:
        super().__init__(name)
        self.name, self.line, self.came = name, line, came


class AuthorError(Exception):
    """The exercise itself is wrong (its facts or its check), not the answer."""


class LibraryError(AuthorError):
    """The library cannot be loaded: the installation is wrong, not the answer."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{LIBRARY} cannot be imported: {error_text(error)}")


def load_answer(path: Path) -> ModuleType:
    """Run answer.py as the module `answer`; refuses a file that cannot be read, is not Python, or raises an error."""
    asked = "an answer.py that Python can import"
    source = read_answer(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise Refused(syntax_refusal(error, asked)) from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise Refused(Refusal(asked=asked, came=f"{type(error).__name__}: {error}")) from None
    module = ModuleType(MODULE)
    module.__file__ = str(path)
    linecache.cache[str(path)] = (len(source), None, source.splitlines(keepends=True), str(path))
    sys.modules[MODULE] = module
    try:
        exec(code, module.__dict__)
    except NotImplementedError as error:
        frames = answer_frames(error.__traceback__, path)
        raise NotStarted("", frames[-1].lineno if frames else None) from None
    except (Refused, AuthorError):
        raise
    except BaseException as error:  # noqa: BLE001 (sys.exit and KeyboardInterrupt of the answer's, too)
        sys.modules.pop(MODULE, None)
        if library_fails(error, path):
            raise LibraryError(error) from None
        raise Refused(error_refusal(error, path, asked)) from None
    return module


def by_library(module: str) -> bool:
    """Whether a module of this name belongs to the library.

    >>> by_library("glasstorch.core.geometry"), by_library("tests.core.test_geometry")
    (True, False)
    """
    return module == LIBRARY or module.startswith(f"{LIBRARY}.")


def library_fails(error: BaseException, path: Path) -> bool:
    """Whether the error occurred while a file of the library was loaded, and outside of the answer."""
    if isinstance(error, ModuleNotFoundError) and error.name == LIBRARY:
        return True
    if isinstance(error, SyntaxError):
        return LIBRARY in Path(error.filename or "").parts
    loading = False
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == str(path):
            loading = False
        elif frame.f_code.co_name == "<module>" and by_library(frame.f_globals.get("__name__", "")):
            loading = True
    return loading


def read_answer(path: Path) -> str:
    """The text of answer.py; refuses a folder, a file without permission, and bytes that are not text."""
    asked = "an answer.py that is a text file"
    try:
        data = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return io.TextIOWrapper(io.BytesIO(data), encoding).read()
    except FileNotFoundError:
        raise Refused(Refusal(asked=asked, came="there is no answer.py")) from None
    except OSError as error:
        kind = "it is a folder" if path.is_dir() else str(error.strerror)
        raise Refused(Refusal(asked=asked, came=f"answer.py cannot be read: {kind}")) from None
    except (UnicodeDecodeError, SyntaxError) as error:  # the second: of the first two lines, or of what they declare
        raise Refused(undecodable(data, asked, error)) from None


def undecodable(data: bytes, asked: str, error: UnicodeDecodeError | SyntaxError) -> Refusal:
    """The refusal of a file whose bytes are not text; names the line and the byte."""
    accepted = "text in UTF-8: save the file in that encoding"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        came = f"line {line} has the byte {data[problem.start]:#04x}, which is not UTF-8"
        return Refusal(asked=asked, came=came, accepted=accepted, line=line)
    return Refusal(asked=asked, came=str(error), accepted=accepted, line=1)


def syntax_refusal(error: SyntaxError, asked: str) -> Refusal:
    """The refusal of a file that is not Python: the line, and a caret below the error."""
    trace: tuple[str, ...] = ()
    if error.text:
        text = error.text.rstrip("\n")
        stripped = text.lstrip()
        caret = max((error.offset or 1) - 1 - (len(text) - len(stripped)), 0)
        trace = (f"line {error.lineno}", stripped, " " * caret + "^")
    return Refusal(asked=asked, came=f"{type(error).__name__}: {error.msg}", line=error.lineno, trace=trace)


def answer_frames(trace: TracebackType | None, path: Path) -> list[traceback.FrameSummary]:
    """The frames of answer.py in a traceback, outermost first."""
    name = str(path)
    found = [(frame.f_code, line) for frame, line in traceback.walk_tb(trace) if frame.f_code.co_filename == name]
    return [traceback.FrameSummary(name, line, code.co_name, lookup_line=True) for code, line in found]


def trace_of(frames: list[traceback.FrameSummary]) -> tuple[str, ...]:
    """The last lines of answer.py in the call stack, outermost first, one line each; a recursion repeats lines."""
    times: dict[tuple[str, str | None], int] = {}
    for frame in frames:
        passed = (f"line {frame.lineno}, {place(frame.name)}", frame.line)
        times[passed] = times.pop(passed, 0) + 1  # it moves to the end
    last = [*times.items()][-FRAMES:]
    return tuple(f"{where}{f', {count} times' if count > 1 else ''}: {text}" for (where, text), count in last)


def error_refusal(
    error: BaseException, path: Path, asked: str = "", call: str = "", accepted: str = "", because: str = ""
) -> Refusal:
    """The refusal for an exception that the answer raised; a refusal that it passed on is unchanged."""
    refused = getattr(error, "refusal", None)
    if isinstance(refused, Refusal):
        return refused
    frames = answer_frames(error.__traceback__, path)
    came = error_text(error)
    if isinstance(error, SystemExit):
        came = f"it called sys.exit({short(error.code) if error.code is not None else ''})"
    return Refusal(
        asked=asked,
        input=call,
        came=came,
        accepted=accepted,
        because=because,
        line=frames[-1].lineno if frames else None,
        trace=trace_of(frames),
    )


def error_text(error: BaseException) -> str:
    """An exception as in the last line of Python's traceback."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ in ("builtins", MODULE) else f"{kind.__module__}.{kind.__qualname__}"
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (it is the reader's own class)
        text = ""
    return cut(f"{name}: {text}" if text else name)


def place(function: str) -> str:
    """The location of a frame, as text."""
    return "at the top" if function == "<module>" else f"in {function}"
