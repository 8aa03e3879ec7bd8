"""How does a check call an answer's functions, and how does it judge the results?

Used by the check files: `ask` calls the reader's function, `expect` judges. Of a failure, the reader sees only the
frames of answer.py.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import io
import linecache
import re
import reprlib
import sys
import textwrap
import tokenize
import traceback
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, cast

from workbook.exercises.report import Refusal

MODULE = "answer"
LIBRARY = "glasstorch"
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
FRAMES = 4  # places in answer.py, shown of a traceback
TEXT = 800  # characters shown of a value
LINES = 15  # lines shown of it


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


# --- the reader's file ---


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


# --- values as text ---


class _Short(reprlib.Repr):
    """Representations of bounded length, whatever the value."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 6
        self.maxtuple = self.maxlist = self.maxset = self.maxdict = 40
        self.maxstring = self.maxother = TEXT
        self.maxlong = 100


def short(value: object) -> str:
    """A value as it is shown: its repr without addresses, cut if it is long."""
    try:
        return cut(ADDRESS.sub("", _Short().repr(value)))
    except Exception:  # noqa: BLE001 (a repr of the reader's own may raise)
        return f"<a {type(value).__name__} whose repr fails>"


def described(value: Any) -> str:
    """An argument as it is shown: of a tensor whose memory is not row-major, the strides, too."""
    text = short(value)
    is_strided = hasattr(value, "stride") and hasattr(value, "is_contiguous") and not value.is_contiguous()
    return f"{text} with strides {value.stride()}" if is_strided else text


def cut(text: str) -> str:
    """A text, cut if it is long."""
    head = "\n".join(text[: TEXT + 1].split("\n", LINES)[:LINES])[:TEXT]
    return text if len(head) == len(text) else f"{head} ... ({len(text):,} characters)"


def kind_of(value: object) -> str:
    """What a value is, with its article: `a tuple`, `an int`."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


# --- asking ---


class Came:
    """The outcome of one call: a value, or an exception."""

    def __init__(self, call: str, function: object, path: Path) -> None:
        self.call, self.function, self.path = call, function, path
        self.line = line_of(function, path)
        self.error: BaseException | None = None
        self._value: object = None

    @property
    def value(self) -> Any:
        """The value that the function returned; refuses if it raised an exception."""
        if self.error is not None:
            raise Refused(error_refusal(self.error, self.path, call=self.call))
        return self._value


class Raises:
    """Accepts a call that raises this kind of exception, with this text in its message."""

    def __init__(self, kind: type[BaseException], text: str = "") -> None:
        self.kind, self.text = kind, text

    def __str__(self) -> str:
        words = f" whose message has {self.text!r}" if self.text else ""
        kind = getattr(self.kind, "rule", self.kind.__name__)  # glasstorch's errors are shown as the builtin they are
        return f"the function raises {kind}{words}"

    def accepts(self, error: BaseException | None) -> bool:
        """Whether the outcome is such an exception."""
        return isinstance(error, self.kind) and self.text in str(error)


class Ask:
    """Calls functions of answer.py by name. The file is loaded on first use, when `begun` is created.

    `loaded` is then called with the module: in a repair it puts the mended function into the library.
    """

    def __init__(
        self, path: Path, begun: Path | None = None, loaded: Callable[[ModuleType], None] = lambda module: None
    ) -> None:
        self.path, self.begun, self.loaded = path, begun, loaded
        self.last: Came | None = None
        self._answer: ModuleType | None = None

    @property
    def answer(self) -> ModuleType:
        """The reader's module."""
        return self._load()

    def _load(self) -> ModuleType:
        if self._answer is None:
            if self.begun is not None:
                self.begun.touch()
            self._answer = load_answer(self.path)
            self.loaded(self._answer)
        return self._answer

    def get(self, name: str) -> Any:
        """The object with a name in answer.py; refuses if it is missing."""
        try:
            return getattr(self.answer, name)
        except AttributeError:
            raise Refused(missing(self.answer, name)) from None

    def __call__(self, name: str, *args: object, **kwargs: object) -> Came:
        """Call the function of that name; what it raises is kept for `expect`."""
        function = self.get(name)
        if not callable(function):
            raise Refused(Refusal(asked=f"a function {name}", came=f"{name} is {kind_of(function)}: {short(function)}"))
        texts = [described(value) for value in args] + [f"{key}={described(value)}" for key, value in kwargs.items()]
        came = self.last = Came(f"{name}({', '.join(texts)})", function, self.path)
        try:
            came._value = function(*args, **kwargs)
        except NotImplementedError as error:
            frames = answer_frames(error.__traceback__, self.path)
            if ends_in(error.__traceback__, self.path):
                raise NotStarted(name, frames[-1].lineno) from None
            came.error = error
        except (Refused, AuthorError):
            raise
        except BaseException as error:  # noqa: BLE001 (sys.exit, too)
            came.error = error
        return came

    def run(self, program: str) -> Came:
        """Run a program on the library, which it knows as `torch`; the value is that of its last expression.

        What it raises is kept for `expect`.
        """
        self._load()  # so that its pieces are in the library
        tree = ast.parse(textwrap.dedent(program).strip())
        last = tree.body.pop()
        assert isinstance(last, ast.Expr), "the last line of a program is the expression that is asked for"
        came = self.last = Came(ast.unparse(ast.Module([*tree.body, last], [])), None, self.path)
        names = {"torch": importlib.import_module(LIBRARY)}
        try:
            exec(compile(tree, "<program>", "exec", dont_inherit=True), names)
            came._value = eval(compile(ast.Expression(last.value), "<program>", "eval", dont_inherit=True), names)
        except (Refused, AuthorError):
            raise
        except BaseException as error:  # noqa: BLE001 (sys.exit, too)
            came.error = error
        return came


def missing(module: ModuleType, name: str) -> Refusal:
    """The refusal of an answer that lacks a name; lists the names that it has."""
    own = [
        key
        for key, value in vars(module).items()
        if getattr(value, "__module__", None) == MODULE and not key.startswith("_")
    ]
    return Refusal(
        asked=f"a function or class {name}",
        came=f"answer.py has no {name}; it defines {', '.join(own) if own else 'nothing'}",
    )


def ends_in(trace: TracebackType | None, path: Path) -> bool:
    """Whether the innermost frame of a traceback is in this file."""
    frames = list(traceback.walk_tb(trace))
    return bool(frames) and frames[-1][0].f_code.co_filename == str(path)


def line_of(function: object, path: Path) -> int | None:
    """The line at which a function of answer.py begins."""
    code = getattr(function, "__code__", None)
    if isinstance(code, types.CodeType) and code.co_filename == str(path):
        return code.co_firstlineno
    return None


def expect(
    came: object,
    accepted: object,
    *,
    because: str = "",
    same: Callable[[Any, Any], bool] | None = None,
    read: Callable[[Any], Any] | None = None,
    asked: str | None = None,
) -> None:
    """Refuse the answer unless the result equals the accepted value and has the same type.

    `same(value, accepted)` judges in place of equality, and `read(value)` is what is judged in place of the value.
    Where `accepted` is a `Raises`, the call has to raise.
    """
    call, line = (came.call, came.line) if isinstance(came, Came) else ("", None)
    function = came.function if isinstance(came, Came) else None
    if isinstance(accepted, Raises):
        if not isinstance(came, Came):
            raise AuthorError(f"expect(..., {accepted}) needs what `ask` returned, not {kind_of(came)}")
        if accepted.accepts(came.error):
            return
        if came.error is not None:
            raise Refused(error_refusal(came.error, came.path, asked or "", call, str(accepted)))
        raise Refused(Refusal(asked or "", call, short(came.value), str(accepted), because, line))
    if isinstance(came, Came):
        if came.error is not None:
            raise Refused(error_refusal(came.error, came.path, asked or "", call, short(accepted), because))
        came = came.value
    came = came if read is None else read(came)
    if not (equal if same is None else same)(came, accepted):
        shown, wanted = short(came), short(accepted)
        if type(came) is not type(accepted):
            if came is not None:
                shown = f"{shown}, {kind_of(came)}"
            elif not (returns_none(function) or accepts_none(sys._getframe(1).f_code.co_filename)):
                shown = "None (is a `return` missing?)"
            wanted = wanted if accepted is None else f"{wanted}, {kind_of(accepted)}"
        raise Refused(Refusal(asked or "", call, shown, wanted, because, line))


def returns_none(function: object) -> bool:
    """Whether a function returns None explicitly, so that None is its intended result."""
    try:
        nodes = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(cast("types.FunctionType", function)))))
    except (OSError, TypeError, SyntaxError):
        return False
    return any(may_be_none(node.value) for node in nodes if isinstance(node, ast.Return))


def may_be_none(value: ast.expr | None) -> bool:
    """Whether a returned expression is None, or a conditional expression with None in it."""
    if isinstance(value, ast.IfExp):
        return may_be_none(value.body) or may_be_none(value.orelse)
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def accepts_none(file: str) -> bool:
    """Whether a check accepts None somewhere, so that None is an ordinary result."""
    try:
        nodes = ast.walk(ast.parse("".join(linecache.getlines(file))))
    except SyntaxError:
        return False
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == expect.__name__]
    return any(len(call.args) > 1 and may_be_none(call.args[1]) for call in calls)


def equal(value: object, accepted: object) -> bool:
    """Whether two values are equal and of the same types, recursively. NaN equals NaN."""
    if type(value) is not type(accepted):
        return False
    if isinstance(value, tuple | list) and isinstance(accepted, tuple | list):
        return len(value) == len(accepted) and all(map(equal, value, accepted))
    if isinstance(value, dict) and isinstance(accepted, dict):
        return value.keys() == accepted.keys() and all(equal(value[key], accepted[key]) for key in accepted)
    if isinstance(value, float) and isinstance(accepted, float) and value != value:
        return accepted != accepted
    if is_tensor(value):
        return same_tensor(value, accepted)
    try:
        return bool(value == accepted)
    except Exception:  # noqa: BLE001 (values that cannot be compared are not equal)
        return False


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor of glasstorch; does not import it."""
    library = sys.modules.get(LIBRARY)
    return library is not None and isinstance(value, getattr(library, "Tensor", ()))


def same_tensor(value: Any, accepted: Any) -> bool:
    """Whether two tensors have the same shape, dtype and elements."""
    if tuple(value.shape) != tuple(accepted.shape) or value.dtype != accepted.dtype:
        return False
    return equal(value.detach().tolist(), accepted.detach().tolist())


def close(value: Any, accepted: Any) -> bool:
    """For `same=`: whether two tensors have the same shape and dtype, and elements that differ only by rounding."""
    if not (is_tensor(value) and is_tensor(accepted)):
        return equal(value, accepted)
    if tuple(value.shape) != tuple(accepted.shape) or value.dtype != accepted.dtype:
        return False
    import numpy

    tolerance = 1e-9 if "64" in str(value.dtype) else 1e-5
    left, right = (numpy.asarray(t.detach().tolist()) for t in (value, accepted))
    return bool(numpy.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True))
