"""How is recording of the backward graph switched on and off?

Mirrors: c10/core/GradMode.h, c10/core/InferenceMode.h, c10/core/AutogradState.h, torch/autograd/grad_mode.py
Differs: ContextVars, of which each thread and each asyncio task has its own value.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Any, TypeVar

from glasstorch.calls.call_site import is_spread
from glasstorch.calls.overloaded import UNASKED, ask
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.inference import is_inference_mode_enabled, set_inference_mode
from glasstorch.core.keys import ADINPLACEORVIEW, AUTOGRAD_AND_NESTED
from glasstorch.core.plain_types import SILENT
from glasstorch.dispatch.active_keys import active_keys

F = TypeVar("F", bound=Callable[..., Any])

grad_mode: ContextVar[bool] = ContextVar("grad_mode", default=True)
multithreading: ContextVar[bool] = ContextVar("multithreading", default=True)  # read by `device_threads`


def is_grad_enabled() -> bool:
    """Whether operators on tensors that require grad are recorded."""
    return grad_mode.get()


def _maker(cls: Any) -> Any:
    """A function that makes objects of a class."""

    def make(*args: Any, **kwargs: Any) -> Any:
        return cls(*args, **kwargs)

    return make


class Guard:
    """Sets a mode inside a `with` block, or inside a function that it decorates."""

    def clone(self) -> Any:
        """A new guard with the same setting, for another block."""
        raise NotImplementedError

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=3 if isinstance(self, set_grad_enabled) else 2,
            )
            function = _maker(function)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        @functools.wraps(function)
        def wrapped_generator(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            resume, value = generator.send, None
            while True:
                try:
                    with self.clone():
                        produced = resume(value)
                except StopIteration as stop:
                    return stop.value
                try:  # outside the mode, while the caller runs
                    value = yield produced
                    resume = generator.send
                except BaseException as error:  # noqa: BLE001  # whatever the caller throws is the generator's
                    resume, value = generator.throw, error

        return wrapped_generator if inspect.isgeneratorfunction(function) else wrapped  # type: ignore[return-value]


def _set_grad_enabled(*args: Any, **kwargs: Any) -> None:
    """Record, or do not: what the guards below call, and what a mode of functions is asked about."""
    given = dict(zip(("enabled",), args, strict=False)) | kwargs
    if "enabled" not in given:
        raise ArgumentTypeError('set_grad_enabled() missing 1 required positional arguments: "enabled"')
    if len(given) < len(args) + len(kwargs) or len(given) > 1:
        raise ArgumentTypeError(
            f"set_grad_enabled() takes 1 positional argument, enabled; got {len(args)} and the names {sorted(kwargs)}"
        )
    check_enabled("set_grad_enabled", given["enabled"])
    named = kwargs or ({} if is_spread(_set_grad_enabled) else None)
    answer = ask(_set_grad_enabled, "torch._C.set_grad_enabled", args, named)
    if answer is UNASKED:
        grad_mode.set(given["enabled"])


def _switch(enabled: bool) -> None:
    """The same for a guard, which asks only while a mode of functions is on somewhere."""
    if SILENT:
        grad_mode.set(enabled)
    else:
        _set_grad_enabled(enabled)


def check_enabled(function: str, enabled: object) -> None:
    """TypeError in the words of PyTorch's function, unless a setting is a bool."""
    if not isinstance(enabled, bool):
        raise ArgumentTypeError(
            f"{function}(): argument 'enabled' (position 1) must be bool, not {type(enabled).__name__}"
        )


class _GradModeGuard(Guard):
    """Sets the grad mode."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._before: list[bool] = []

    def clone(self) -> _GradModeGuard:
        return _GradModeGuard(self.mode)

    def __enter__(self) -> None:
        self._before.append(grad_mode.get())
        _switch(self.mode)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _switch(self._before.pop())


class _PlainGuard(_GradModeGuard):
    """A guard without arguments, which decorates a function with or without being called: `@no_grad`."""

    def __new__(cls, function: Any = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)

    def clone(self) -> Any:
        return type(self)()


class no_grad(_PlainGuard):
    """Records nothing inside: `with no_grad():` or `@no_grad`. Results do not require grad."""

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_PlainGuard):
    """Records inside, even within `no_grad`."""

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_GradModeGuard):
    """Sets the mode immediately, and restores the previous one at the end of a `with` block."""

    def __init__(self, mode: bool) -> None:
        check_enabled("set_grad_enabled", mode)
        super().__init__(mode)
        self._at_construction = grad_mode.get()
        _switch(mode)

    def __enter__(self) -> None:
        self._before.append(self._at_construction)
        _switch(self.mode)

    def __call__(self, function: F) -> F:
        _switch(self._at_construction)
        return super().__call__(function)

    def clone(self) -> set_grad_enabled:
        return type(self)(self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__qualname__}(mode={self.mode})"


class inference_mode(Guard):
    """Inside, autograd is off entirely: nothing is recorded, and new tensors are inference tensors.

    These have no version counter and can never be saved for a backward pass. `inference_mode(False)` switches it off.
    """

    def __new__(cls, mode: Any = True) -> Any:
        """A guard; or the function, decorated, where the class itself is the decorator."""
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._before: list[tuple[bool, bool, tuple[int, int]]] = []

    def clone(self) -> inference_mode:
        return inference_mode(self.mode)

    def __enter__(self) -> None:
        included, allowed = active_keys.get()
        self._before.append((is_inference_mode_enabled(), grad_mode.get(), (included, allowed)))
        set_inference_mode(self.mode)
        grad_mode.set(not self.mode)
        if self.mode:
            active_keys.set((included & ~ADINPLACEORVIEW, allowed & ~AUTOGRAD_AND_NESTED))
        else:
            active_keys.set((included | ADINPLACEORVIEW, allowed | AUTOGRAD_AND_NESTED))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        inference, grad, keys = self._before.pop()
        set_inference_mode(inference)
        grad_mode.set(grad)
        active_keys.set(keys)
