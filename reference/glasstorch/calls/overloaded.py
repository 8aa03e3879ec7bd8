"""Who answers a call in place of the function: a mode, or the type of an argument?

Mirrors: torch/overrides.py (handle_torch_function), torch/csrc/utils/disable_torch_function.cpp,
    torch/csrc/utils/python_arg_parser.cpp (handle_torch_function_no_python_arg_parser), aten/src/ATen/
    PythonTorchFunctionTLS.cpp
Differs: two context variables hold what is there a thread-local record, so that asyncio's tasks have their own, too.

A type answers if it has a `__torch_function__` that is not `_disabled_torch_function_impl`. `Tensor` has one, but is
not asked itself: its subclasses inherit it. `calls/asked_class.py` makes their methods ask.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, Token
from typing import Any, Final, Self, TypeVar

from glasstorch.calls.call_site import handed_on
from glasstorch.core.plain_types import QUIET, SILENT, TENSORS, count_modes, someone

# How PyTorch's message ends if all who were asked refused. The name of the setting is part of what programs compare.
MORE: Final = "\n\nFor more information, try re-running with TORCH_LOGS=not_implemented"

UNASKED: Final[Any] = object()  # the answer where there was nobody to ask

ENABLED, NO_SUBCLASSES, NOTHING, SKIP_ONE = 0, 1, 2, 3
switched_off: ContextVar[int] = ContextVar("torch_function_switched_off", default=ENABLED)
mode_stack: ContextVar[tuple[Any, ...]] = ContextVar("torch_function_modes", default=())


# Switching it off -----------------------------------------------------------------------------------------------


class _Switch:
    """A context in which fewer, or more, are asked."""

    level = ENABLED

    def __init__(self) -> None:
        self._token = switched_off.set(self._next(switched_off.get()))

    def _next(self, before: int) -> int:
        return self.level

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        switched_off.reset(self._token)


class DisableTorchFunctionSubclass(_Switch):
    """Ask modes, and no types of arguments."""

    def _next(self, before: int) -> int:
        return max(before, NO_SUBCLASSES)


class DisableTorchFunction(_Switch):
    """Ask nobody."""

    level = NOTHING


class _EnableTorchFunction(_Switch):
    """Ask again, whatever was switched off."""


class NobodyAsked(DisableTorchFunction):
    """Ask nobody in code of the library that PyTorch has in C++, but those that `users_code` runs in it."""

    def __init__(self) -> None:
        self._before = _outside.set(switched_off.get())
        super().__init__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        _outside.reset(self._before)


class _Outside(_Switch):
    def _next(self, before: int) -> int:
        return _outside.get()


_outside: ContextVar[int] = ContextVar("torch_function_outside", default=ENABLED)
_nothing_changes: Final = nullcontext()


def librarys_code() -> AbstractContextManager[Any]:
    """A context in which nobody is asked; it does nothing if nobody in this process answers."""
    return NobodyAsked() if someone.answers else _nothing_changes


def users_code() -> AbstractContextManager[Any]:
    """A context within that of `librarys_code` in which those are asked who were asked around it."""
    return _Outside() if someone.answers else _nothing_changes


class _DisabledTorchFunction:
    """The `__torch_function__` of a class that never answers: it runs the function on its arguments as they are."""

    __name__ = __qualname__ = "_disabled_torch_function_impl"

    def __call__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


_disabled_torch_function_impl: Final = _DisabledTorchFunction()


def _level() -> int:
    """What is switched off for the call that is made now."""
    off = switched_off.get()
    if off == SKIP_ONE:
        switched_off.set(ENABLED)  # for the calls inside it
        return NOTHING
    return off


def skip_one(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None) -> Any:
    """The result of a function's own code; the functions that it calls ask again."""
    token = switched_off.set(SKIP_ONE)
    try:
        return function(*args, **(kwargs or {}))
    finally:
        switched_off.reset(token)


def is_quiet() -> bool:
    """Whether nobody would be asked now, whatever the types of the arguments."""
    off = switched_off.get()
    return off == NOTHING or (off == NO_SUBCLASSES and not mode_stack.get())


def is_enabled() -> bool:
    """Whether types of arguments are asked."""
    return switched_off.get() == ENABLED


def are_all_disabled() -> bool:
    """Whether nobody is asked, not even modes."""
    return switched_off.get() == NOTHING


# Modes ----------------------------------------------------------------------------------------------------------


def is_a_mode_on() -> bool:
    """Whether a mode of this thread is asked first."""
    return bool(mode_stack.get()) and switched_off.get() != NOTHING


def push_mode(mode: Any) -> None:
    """Put a mode on top of the stack of this thread; it is asked before all others."""
    mode_stack.set((*mode_stack.get(), mode))
    if not is_shown_only(mode):
        _changed(count_modes(1))


def pop_mode() -> Any:
    """Take the top mode off the stack."""
    if not (modes := mode_stack.get()):
        raise RuntimeError("trying to pop from empty mode stack")
    top = modes[-1]
    mode_stack.set(modes[:-1])
    if not is_shown_only(top):
        _changed(count_modes(-1))
    return top


def is_shown_only(mode: Any) -> bool:
    """Whether a mode need not be asked, though it may be: what it would say is known where it counts.

    So it is with a default device, which a factory looks up. Alone on the stack, such modes cost other calls nothing.
    """
    return getattr(mode, "is_shown_only", False)


_listeners: list[Callable[[bool], None]] = []


def on_modes(listener: Callable[[bool], None]) -> None:
    """Call a function with True when a first mode is switched on in any thread, with False after the last."""
    _listeners.append(listener)


_told = False


def _changed(count: int) -> None:
    global _told
    if _told != bool(count):
        _told = bool(count)
        for listener in _listeners:
            listener(_told)


class without_top_mode:  # reads as a statement: `with without_top_mode() as mode`
    """The modes below the top one; the sets of plain types stay as they are."""

    def __enter__(self) -> Any:
        *below, top = mode_stack.get()
        self._token: Token[tuple[Any, ...]] = mode_stack.set(tuple(below))
        return top

    def __exit__(self, *error: object) -> None:
        mode_stack.reset(self._token)


# Who is asked ---------------------------------------------------------------------------------------------------


def has_torch_function(args: Iterable[object]) -> bool:
    """Whether a mode is on, or the type of one of the arguments answers."""
    off = _level()
    if off == NOTHING:
        return False
    if mode_stack.get():
        return True
    return off == ENABLED and any(answers(type(arg)) for arg in args)


def has_torch_function_unary(arg: object) -> bool:
    """The same for one argument."""
    return type(arg) not in SILENT and has_torch_function((arg,))


def has_torch_function_variadic(*args: object) -> bool:
    """The same for arguments that are given one by one."""
    return not SILENT.issuperset(map(type, args)) and has_torch_function(args)


def answers(kind: type) -> bool:
    """Whether a type has a `__torch_function__` that may answer."""
    if kind in QUIET:
        return False
    if kind in TENSORS:
        return True
    method = getattr(kind, "__torch_function__", _disabled_torch_function_impl)
    if getattr(getattr(method, "__func__", None), "__module__", None) == PYTORCHS:
        return False
    return method is not _disabled_torch_function_impl


# Where PyTorch has the `__torch_function__` of its own tensors, which a program may have beside those of this library.
# It would run our function once more, which would ask it again.
PYTORCHS: Final = "torch._tensor"


def may_answer(kind: type) -> bool:
    """The same, and true of Tensor: PyTorch's functions in Python count it among the types."""
    return getattr(kind, "__torch_function__", _disabled_torch_function_impl) is not _disabled_torch_function_impl


def in_order(args: Iterable[object], counts: Callable[[type], bool] = answers) -> list[Any]:
    """The arguments to ask: one of each type that counts, a subclass before its bases."""
    found: list[object] = []
    kinds: list[type] = []
    for arg in args:
        kind = type(arg)
        if kind in kinds or not counts(kind):
            continue
        place = next((i for i, other in enumerate(kinds) if isinstance(arg, other)), len(found)) if found else 0
        found.insert(place, arg)
        kinds.insert(place, kind)
    return found


def with_elements(values: Iterable[Any]) -> Iterable[Any]:
    """Arguments, and in place of each list or tuple its elements."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, _SEQUENCES) and not hasattr(type(value), "__torch_function__"):
            found += value
        else:
            found.append(value)
    return found


_SEQUENCES: Final = (list, tuple)


def always(kind: type) -> bool:
    """Every type counts: that of the tensor whose attribute is read, or whose method takes nothing else."""
    return True


# Asking ---------------------------------------------------------------------------------------------------------


def to_be_asked(args: Iterable[object], kwargs: Mapping[str, Any] | None = None) -> list[Any] | None:
    """The arguments to ask, elements of lists as well; None if there is nobody to ask, not even a mode."""
    off = _level()
    if off == NOTHING:
        return None
    modes = mode_stack.get()
    if off != ENABLED:
        return [] if modes else None
    values = (*args, *kwargs.values()) if kwargs else args
    asked = [] if QUIET.issuperset(map(type, values)) else in_order(with_elements(values))
    return asked if asked or modes else None


def ask(
    function: Any,
    name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    counts_self: Callable[[type], bool] = answers,
) -> Any:
    """The answer of a mode or an argument to `function(*args, **kwargs)`; UNASKED if there is nobody to ask.

    Elements of lists are asked as well. Without keywords `kwargs` is None and none are passed on, as by PyTorch's
    functions in C++. A message speaks of the function by `name`. `counts_self` says whether a mode is told the type of
    the first argument though it does not answer itself.
    """
    asked = to_be_asked(args, kwargs)
    return UNASKED if asked is None else answer_of(asked, function, name, args, kwargs, counts_self)


def answer_of(
    asked: list[Any],
    function: Any,
    name: str,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    counts_self: Callable[[type], bool] = answers,
) -> Any:
    """The answer of a mode, or of the first of the arguments to ask that does answer; see `ask`."""
    if not asked and switched_off.get() == ENABLED and args and counts_self(type(args[0])):
        asked = [args[0]]
    answer = _answer(function, asked, (tuple(args),) if kwargs is None else (tuple(args), dict(kwargs)), IN_C)
    if answer is not NotImplemented:
        return answer
    lines = [f"\n  - mode object {mode_stack.get()[-1]!r}"] if is_a_mode_on() else []
    lines += [f"\n  - tensor subclass {type(arg)}" for arg in asked]
    raise TypeError(
        f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n"
        + "".join(lines)
        + MORE
    )


def ask_modes(function: Any, name: str, args: Sequence[Any], **kwargs: Any) -> Any:
    """The answer of a mode to a call whose arguments are not asked; keywords that are None or False are left out."""
    if not is_a_mode_on():
        return UNASKED
    given = {key: value for key, value in kwargs.items() if value is not None and value is not False}
    with without_top_mode() as mode:
        answer = mode.__torch_function__(function, (), tuple(args), *((given,) if given else ()))
    if answer is NotImplemented:
        raise TypeError(
            f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n"
            f"\n  - mode object {mode!r}{MORE}"
        )
    return answer


Result = TypeVar("Result")


def handle_torch_function(
    public_api: Callable[..., Result], relevant_args: Iterable[object], *args: object, **kwargs: object
) -> Result:
    """The answer to `public_api(*args, **kwargs)` of a mode, or of the first relevant argument that does answer.

    Arguments are asked from left to right, those of a subclass before those of its bases, and one of each type. Where
    none answers, TypeError names the function and the types.
    """
    asked = in_order(relevant_args, may_answer) if switched_off.get() == ENABLED else []
    answer: Result = _answer(public_api, asked, (args, kwargs))
    if answer is not NotImplemented:
        return answer
    of_mode = f" nor in mode {mode_stack.get()[-1]!r}" if is_a_mode_on() else ""
    raise TypeError(
        f"no implementation found for '{_module(public_api)}.{public_api.__name__}' on types that implement "
        f"__torch_function__: {[type(arg) for arg in asked]}{of_mode}"
    )


def _module(function: Any) -> str:
    """The module in which programs find a function."""
    module: str = function.__module__
    return module.partition(".functions.")[0] + ".functional" if ".nn.functions." in module else module


# How PyTorch warns of a handler that is a plain method: its functions in C, and those in Python.
PLAIN_METHOD: Final = (
    " as a plain method is deprecated and will be an error in future, please define it as a classmethod."
)
IN_C: Final = (UserWarning, f"Defining your `__torch_function__`{PLAIN_METHOD}")
IN_PYTHON: Final = (DeprecationWarning, f"Defining your `__torch_function__{PLAIN_METHOD}")


def _answer(
    function: Any, asked: Sequence[Any], call: tuple[Any, ...], warning: tuple[type[Warning], str] = IN_PYTHON
) -> Any:  # hot path: benchmarks/library.py
    """Ask the top mode, then the arguments; the first answer that is not NotImplemented counts."""
    types = tuple(map(type, asked))
    token = handed_on.set((call[0], call[1] if len(call) > 1 else {}))
    try:
        modes = mode_stack.get()
        if modes and switched_off.get() != NOTHING:
            below = mode_stack.set(modes[:-1])  # without_top_mode, written out
            try:
                answer = modes[-1].__torch_function__(function, types, *call)
            finally:
                mode_stack.reset(below)
            if answer is not NotImplemented:
                return answer
        return _answer_of_arguments(function, asked, types, call, warning)
    finally:
        handed_on.reset(token)


def _answer_of_arguments(
    function: Any,
    asked: Sequence[Any],
    types: tuple[type, ...],
    call: tuple[Any, ...],
    warning: tuple[type[Warning], str],
) -> Any:
    for arg in asked:
        method = arg.__torch_function__
        if getattr(method, "__self__", None) is arg:
            warnings.warn(warning[1], warning[0], stacklevel=4)
        answer = method(function, types, *call)
        if answer is not NotImplemented:
            return answer
    return NotImplemented
