"""Is a gradient graph being recorded?

Mirrors: c10/core/GradMode.h, c10/core/AutogradState.h, torch/autograd/grad_mode.py
Differs: a ContextVar, which each thread and each asyncio task has of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

grad_mode: ContextVar[bool] = ContextVar("grad_mode", default=True)


def is_grad_enabled() -> bool:
    """Whether operators on tensors that require grad are recorded."""
    return grad_mode.get()


class _GradModeGuard:
    """Sets the grad mode inside a `with` block, or inside a function that it decorates."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(grad_mode.get())
        grad_mode.set(self.mode)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        grad_mode.set(self._before.pop())

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.mode) if type(self) is set_grad_enabled else type(self)():  # type: ignore[call-arg]
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]


class no_grad(_GradModeGuard):
    """Records nothing inside: `with no_grad():` or `@no_grad()`. Results do not require grad."""

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_GradModeGuard):
    """Records inside, even within `no_grad`."""

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_GradModeGuard):
    """Sets the mode at once, as a function does, and puts the old one back at the end of a `with` block."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._at_construction = grad_mode.get()
        grad_mode.set(mode)

    def __enter__(self) -> None:
        self._before.append(self._at_construction)
        grad_mode.set(self.mode)

    def __call__(self, function: F) -> F:
        grad_mode.set(self._at_construction)
        return super().__call__(function)
