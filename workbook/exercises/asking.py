"""How does a check call an answer's functions, and how does it judge the results?

Used by the check files: `ask` calls the reader's function, `expect` judges.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import linecache
import sys
import textwrap
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, cast

from workbook.exercises.answer_file import (
    LIBRARY,
    MODULE,
    AuthorError,
    NotStarted,
    Refused,
    answer_frames,
    error_refusal,
    load_answer,
)
from workbook.exercises.report import Refusal
from workbook.exercises.value_text import described, kind_of, short


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
