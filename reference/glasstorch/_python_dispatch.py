"""How does a program intercept every operator that runs below autograd?

Mirrors: torch/utils/_python_dispatch.py (TorchDispatchMode, and the functions that change the stack of modes)
Differs: what a mode says about compilation is kept, and nothing asks. There is no stack of modes above autograd
    (`PreDispatch`), so `_dispatch_key` is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from glasstorch.core import hooks
from glasstorch.core.errors import ArgumentError
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch import mode_stack
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.mode_stack import _TorchDispatchModeKey
from glasstorch.dispatch.operator import Kernel, Operator, fallthrough_kernel, registry
from glasstorch.dispatch.python_fallback import python_fallback


class TorchDispatchMode:
    """In a `with` block, each operator below autograd calls the mode's `__torch_dispatch__` instead of a kernel.

    Modes nest. While the innermost runs it is off the stack: an operator that it calls goes to the next outer mode,
    then to the tensors whose classes have a `__torch_dispatch__`, then to the kernels. Keys above the modes, such as
    autograd's, have done their work by then.

    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **kwargs or {})
    """

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key: DispatchKey | None = None) -> None:
        if _dispatch_key is not None:
            raise NotImplementedError(
                "TorchDispatchMode: a mode above autograd (_dispatch_key=DispatchKey.PreDispatch) is not in glasstorch"
            )

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Handle one call of an operator; `func(*args, **kwargs)` runs it. Return NotImplemented to refuse the call."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        if isinstance(getattr(self.__torch_dispatch__, "__self__", None), type):
            raise ArgumentError(
                "Defining your mode's `__torch_dispatch__` as a classmethod is not supported, please make it a plain "
                "method"
            )
        mode_stack.push(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        mode_stack.pop(mode_stack.key_of(self))

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Self:
        """A mode with these arguments, to be entered with `with`; a form from before modes were entered directly."""
        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2)
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether the mode is a part of the library, which a question about modes may leave out."""
        return False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Whether a compiler leaves the handler of the mode alone."""
        return True

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Whether the mode does without the operators of compiled functions."""
        return cls.is_infra_mode()


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that runs what it sees."""

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


class _Before(TorchDispatchMode):
    """Calls a function before each operator runs."""

    def __init__(self, before: Callable[[Operator, Sequence[Any], Mapping[str, Any]], None]) -> None:
        self.before = before

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        self.before(func, args, kwargs or {})
        return func(*args, **kwargs or {})


# The stack ----------------------------------------------------------------------------------------------------------


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether a mode is on; those of the infrastructure count where asked for."""
    return any(include_infra_modes or not mode.is_infra_mode() for mode in mode_stack.modes.get())


def is_in_any_mode_without_ignore_compile_internals() -> bool:
    """Whether a mode is on that is to see what compiled functions run."""
    return any(not mode.ignore_compile_internals() for mode in mode_stack.modes.get())


def set_is_in_mode_without_ignore_compile_internals(value: bool, /) -> None:
    """Tell compiled functions that such a mode is on: there are none yet, and nobody is told."""


def any_torch_dispatch_mode_on_stack() -> bool:
    """Whether a mode is on that is none of the infrastructure's and is to see what compiled functions run."""
    return any(not (mode.is_infra_mode() or mode.ignore_compile_internals()) for mode in mode_stack.modes.get())


def _get_current_dispatch_mode() -> Any:
    """The innermost mode; None where no mode is on."""
    stack = mode_stack.modes.get()
    return stack[-1] if stack else None


def _get_current_dispatch_mode_stack() -> list[Any]:
    """All modes that are on, the innermost last."""
    return list(mode_stack.modes.get())


def _push_mode(mode: Any) -> None:
    mode_stack.push(mode)


def _pop_mode(k: Any = None) -> Any:
    return mode_stack.pop(_mode_key(k))


@contextmanager
def _pop_mode_temporarily(k: Any = None) -> Iterator[Any]:
    """In the block, the innermost mode is off the stack."""
    mode = _pop_mode(k)
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """In the block, no mode is on; gives those that were, the innermost first."""
    stack = mode_stack.modes.get()
    mode_stack.set_stack(())
    try:
        yield [*reversed(stack)]
    finally:
        for mode in stack:
            mode_stack.push(mode)


def _detect_infra_mode(key: _TorchDispatchModeKey) -> Any:
    """The mode of functional tensors or of proxies that is on; None where it is not."""
    return mode_stack.mode_with(_not_fake(key))


def _unset_infra_mode(key: _TorchDispatchModeKey) -> Any:
    """Take a mode of the infrastructure off the stack; None where it is not on."""
    return mode_stack.unset(key)


def _disable_infra_mode(key: _TorchDispatchModeKey) -> Iterator[Any]:
    """A generator, for a context manager: until it goes on, a mode of the infrastructure is off."""
    mode = mode_stack.unset(_not_fake(key))
    try:
        yield mode
    finally:
        if mode is not None:
            mode_stack.push(mode)


def _not_fake(key: _TorchDispatchModeKey) -> _TorchDispatchModeKey:
    if key not in (_TorchDispatchModeKey.FUNCTIONAL, _TorchDispatchModeKey.PROXY):
        raise AssertionError(f"key must be FUNCTIONAL or PROXY of _TorchDispatchModeKey, got {key}")
    return key


def _mode_key(key: Any) -> _TorchDispatchModeKey | None:
    if key is not None and not isinstance(key, _TorchDispatchModeKey):
        raise NotImplementedError(f"a stack of modes for the key {key} is not in glasstorch; modes run at Python alone")
    return key


def register_python_dispatch() -> None:
    """Register the fallbacks for every operator; without a mode or a subclass no call's key set has their keys."""
    here = caller(0)
    registry.fallbacks[DispatchKey.Python] = Kernel(python_fallback, DispatchKey.Python, here, takes_keys=True)
    registry.fallbacks[DispatchKey.PythonTLSSnapshot] = Kernel(
        fallthrough_kernel, DispatchKey.PythonTLSSnapshot, here, takes_keys=True
    )
    registry.changed()
    hooks.set_intercept(_Before)
