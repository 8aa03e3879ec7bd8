"""Which arguments of a call did its caller give by position, and which by name?

Mirrors: torch/csrc/utils/python_arg_parser.cpp (handle_torch_function_no_python_arg_parser: args and kwargs)
Differs: PyTorch's functions in C++ receive a tuple and a dictionary, and hand both on. A generated function has real
    parameters, and knows only their values. So where somebody is asked, and only there, the instruction of the caller
    is looked at: it says how many arguments it gives, and which names. A form that does not fit the values that arrived
    is not believed; then those that do not equal their defaults are told, by position as far as the function allows it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from inspect import CO_VARARGS
from opcode import opmap
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

CALL: Final = opmap.get("CALL", -1)
CALL_FUNCTION_EX: Final = opmap["CALL_FUNCTION_EX"]
CALL_KW: Final = opmap.get("CALL_KW", -1)  # Python 3.13
PRECALL: Final = opmap.get("PRECALL", -1)  # Python 3.11
KW_NAMES: Final = opmap.get("KW_NAMES", -1)  # Python 3.11 and 3.12
CACHE: Final = opmap.get("CACHE", -1)
LOAD_CONST: Final = opmap["LOAD_CONST"]
BYTES_OF_PRECALL: Final = 4  # with its cache

Given = tuple[tuple[Any, ...], dict[str, Any]]

handed_on: ContextVar[Given | None] = ContextVar("arguments_handed_on", default=None)  # to who is asked now


def as_written(function: Any, is_method: bool) -> Given | None:
    """The arguments of the running call of a function, as its caller wrote them; None where that is not seen."""
    frame = _caller(function)
    if frame is None or frame.f_back is None:
        return None
    values = frame.f_locals
    passed_on = handed_on.get()
    if passed_on is not None and _fits(function, values, *passed_on):
        return passed_on
    for form in _forms(function, frame.f_back.f_code, frame.f_back.f_lasti, is_method):
        given = form.quickly(values) or _taken(function, values, form.number, form.names)
        if given is not None:
            return given
    return None


def is_spread(function: Any) -> bool:
    """Whether the running call of a function is written `f(*args, **kwargs)`."""
    caller = _caller(function)
    if caller is None:
        return False
    code, at = caller.f_back.f_code.co_code, _start(caller.f_back.f_code, caller.f_back.f_lasti)  # type: ignore[union-attr]
    return code[at] == CALL_FUNCTION_EX and bool(code[at + 1] & 1)


class _Form(NamedTuple):
    """One way in which an instruction may have given the arguments of a function."""

    number: int  # of arguments by position
    names: tuple[str, ...]
    by_position: tuple[str, ...]  # the parameters that these are
    left_out: Sequence[tuple[str, Any]] | None  # the other parameters and their defaults; None if one has none
    loose: tuple[str, ...]  # the parameters for more arguments than the function names

    def quickly(self, values: dict[str, Any]) -> Given | None:
        """As `_taken`, where all that was left out is just the default, and nothing came beyond the parameters."""
        if self.left_out is None:
            return None
        for name in self.loose:
            if values[name]:
                return None
        for name, default in self.left_out:
            if values[name] is not default:
                return None
        return tuple([values[name] for name in self.by_position]), {name: values[name] for name in self.names}


_seen: dict[tuple[Any, int, int, bool], tuple[CodeType, list[_Form]]] = {}  # the code lives as long as its number
MOST_SEEN: Final = 4096


def _forms(function: Any, code: CodeType, at: int, is_method: bool) -> list[_Form]:
    """The ways in which an instruction of a caller may have given a function's arguments, the likelier first."""
    known = _seen.get((function, id(code), at, is_method))
    if known is not None:
        return known[1]
    written = _instruction(code, at)
    if written is None:
        forms = []
    else:
        count, names = written
        counts = (count + 1, count) if is_method else (count,)
        forms = [_form(function, count, names) for count in counts]
    if len(_seen) >= MOST_SEEN:
        _seen.clear()
    _seen[function, id(code), at, is_method] = code, forms
    return forms


def _form(function: Any, count: int, names: tuple[str, ...]) -> _Form:
    code = function.__code__
    parameters, named = code.co_varnames[: code.co_argcount], _named(code)
    beyond = code.co_varnames[len(named) : len(named) + bool(code.co_flags & CO_VARARGS)]
    keywords = ("kwargs",) if "kwargs" in code.co_varnames else ()
    by_position = parameters[:count] if 0 <= count <= len(parameters) else ()
    defaults = dict(_defaults(function))
    others = [name for name in named if name not in by_position and name not in names]
    fits = len(by_position) == count and {*names} <= {*named} - {*by_position} and {*others} <= defaults.keys()
    left_out = [(name, defaults[name]) for name in others] if fits else None
    return _Form(count, names, by_position, left_out, beyond + keywords)


def _caller(function: Any) -> FrameType | None:
    """The frame in which a function runs, if it was called from Python."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code is not function.__code__:
        frame = frame.f_back
    return None if frame is None or frame.f_back is None else frame


def _start(code: CodeType, at: int) -> int:
    """Where an instruction starts, whose caches follow it."""
    while at > 0 and code.co_code[at] == CACHE:
        at -= 2
    return at


def _instruction(code: CodeType, at: int) -> tuple[int, tuple[str, ...]] | None:
    """How many arguments an instruction gives by position, and the names of the others; None for `f(*args)`."""
    instructions = code.co_code
    at = _start(code, at)
    if at < 0 or instructions[at] not in (CALL, CALL_KW):
        return None
    count, before = instructions[at + 1], at - 2
    if PRECALL >= 0:
        before -= BYTES_OF_PRECALL
    names: Any = ()
    if before >= 0 and (
        instructions[before] == KW_NAMES or (instructions[at] == CALL_KW and instructions[before] == LOAD_CONST)
    ):
        names = code.co_consts[instructions[before + 1]]
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        return None
    return count - len(names), names


def _taken(function: Any, values: dict[str, Any], count: int, names: tuple[str, ...]) -> Given | None:
    """The values of so many parameters and of these names; None if that leaves out a value that was given."""
    code = function.__code__
    parameters = code.co_varnames[: code.co_argcount]
    loose = values[code.co_varnames[code.co_argcount + code.co_kwonlyargcount]] if code.co_flags & CO_VARARGS else ()
    if count < 0 or count != (len(parameters) + len(loose) if loose else min(count, len(parameters))):
        return None
    args = (*(values[name] for name in parameters[:count]), *loose)
    others = values.get("kwargs", {})
    known = {**{name: values[name] for name in _named(code)}, **others}
    if not all(name in known for name in names) or set(parameters[:count]) & set(names):
        return None
    given = args, {name: known[name] for name in names}
    return given if _is_complete(function, values, {*parameters[:count], *names}) else None


def _named(code: CodeType) -> tuple[str, ...]:
    """The parameters that can be given by name."""
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _is_complete(function: Any, values: dict[str, Any], given: set[str]) -> bool:
    """Whether all parameters that are not in a set have their defaults, and it has all keywords that arrived."""
    defaults = dict(_defaults(function))
    missing = [name for name in _named(function.__code__) if name not in given]
    has_defaults = all(name in defaults and _is_same(values[name], defaults[name]) for name in missing)
    return has_defaults and given >= values.get("kwargs", {}).keys()


def _defaults(function: Any) -> Iterator[tuple[str, Any]]:
    code, values = function.__code__, function.__defaults__ or ()
    yield from zip(code.co_varnames[code.co_argcount - len(values) : code.co_argcount], values, strict=True)
    yield from (function.__kwdefaults__ or {}).items()


def _is_same(value: Any, default: Any) -> bool:
    plain = isinstance(value, int | float | str | list)
    return value is default or (plain and type(value) is type(default) and value == default)


def _fits(function: Any, values: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a function that is running was given just these arguments."""
    given = _taken(function, values, len(args), tuple(kwargs))
    if given is None:
        return False
    same = all(_is_it(mine, yours) for mine, yours in zip(given[0], args, strict=True))
    return same and all(_is_it(given[1][name], value) for name, value in kwargs.items())


def _is_it(mine: Any, yours: Any) -> bool:
    """Whether a value is the one that was given, which may be a number that has become a tensor."""
    return mine is yours or (getattr(mine, "_number", None) is not None and mine._number == yours)
