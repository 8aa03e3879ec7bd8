"""How does a program give a block of its code a row of its own?

Mirrors: torch/autograd/profiler.py (record_function), torch/csrc/autograd/record_function_ops.cpp
Differs: there are no futures, whose end a block could wait for. While nothing records, a block costs one question.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ContextDecorator
from functools import wraps
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from glasstorch.dispatch.record import USER_SCOPE, Open, Recorder, recorder

P = ParamSpec("P")
R = TypeVar("R")


class record_function(ContextDecorator):
    """A context manager, and a decorator of functions: a profile shows the block, or each call, under `name`.

    `args` is a text that says more; it is kept on the object. Blocks nest, also of the same object.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"record_function: expected a name, got {type(name).__name__}")
        self.name = name
        self.args = args
        self.run_callbacks_on_exit = True
        self._open: list[tuple[Recorder, Open] | None] = []

    def _recreate_cm(self) -> Self:  # ContextDecorator's: what a call of a decorated function enters
        return type(self)(self.name, self.args)

    @property
    def record(self) -> Open | None:
        """The record of the innermost block that is open; None while nothing records."""
        opened = self._open[-1] if self._open else None
        return None if opened is None else opened[1]

    def __enter__(self) -> Self:
        current = recorder.get()
        self._open.append(None if current is None else (current, current.begin(self.name, USER_SCOPE)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._open, f"the block of record_function({self.name!r}) is left without having been entered"
        opened = self._open.pop()
        if opened is not None:
            opened[0].end(opened[1])


def recorded_as(name: Callable[..., str]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: each call of the function is a block. `name(*args)` names it, and runs only while recording."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            if recorder.get() is None:
                return function(*args, **kwargs)
            with record_function(name(*args)):
                return function(*args, **kwargs)

        return wrapper

    return decorate
