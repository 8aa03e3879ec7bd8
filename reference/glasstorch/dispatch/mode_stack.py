"""Which dispatch modes are on, and which of them is asked first?

Mirrors: c10/core/impl/TorchDispatchModeTLS.h, TorchDispatchModeTLS.cpp
Differs: one tuple in a ContextVar, outermost first, where PyTorch keeps the infrastructure's modes in slots of their
    own. The stack belongs to the running context: a thread or task that starts has none.

# Note [Modes of the infrastructure]
A mode with a `_mode_key` belongs to the infrastructure: fake tensors, proxies of a graph that is traced, functional
tensors. There is at most one with each key. They stand outside all other modes, in the order of their keys, however
late they are entered: a user's mode is asked before them, and what it calls reaches them.
"""

from __future__ import annotations

from contextvars import ContextVar
from enum import IntEnum
from typing import Any

from glasstorch.core.errors import ArgumentError
from glasstorch.core.keys import PYTHON
from glasstorch.dispatch.active_keys import active_keys

modes: ContextVar[tuple[Any, ...]] = ContextVar("torch_dispatch_modes", default=())


class _TorchDispatchModeKey(IntEnum):
    """The infrastructure's modes, outermost first; see Note [Modes of the infrastructure]."""

    FAKE = 0
    PROXY = 1
    FUNCTIONAL = 2

    def __str__(self) -> str:
        return f"_TorchDispatchModeKey.{self.name}"


NAMES = {
    _TorchDispatchModeKey.FAKE: "FakeTensorMode",
    _TorchDispatchModeKey.PROXY: "ProxyTorchDispatchMode",
    _TorchDispatchModeKey.FUNCTIONAL: "FunctionalTensorMode",
}


def key_of(mode: Any) -> _TorchDispatchModeKey | None:
    """The key of a mode of the infrastructure; None for any other mode."""
    key: _TorchDispatchModeKey | None = getattr(mode, "_mode_key", None)
    return key


def push(mode: Any) -> None:
    """Make a mode the innermost one, or put one of the infrastructure in its place."""
    stack = modes.get()
    key = key_of(mode)
    if key is None:
        set_stack((*stack, mode))
        return
    if mode_with(key) is not None:
        raise ArgumentError(f"trying to set the current {NAMES[key]}, but one already exists")
    outside = sum(other is not None and other < key for other in map(key_of, stack))
    set_stack((*stack[:outside], mode, *stack[outside:]))


def pop(key: _TorchDispatchModeKey | None = None) -> Any:
    """Take the innermost mode off the stack, or the infrastructure's mode with a key."""
    stack = modes.get()
    if key is not None:
        mode = unset(key)
        if mode is None:
            raise ArgumentError(f"Attempted to unset {key}, but there wasn't one active")
        return mode
    if not stack:
        raise ArgumentError("trying to pop from empty mode stack")
    set_stack(stack[:-1])
    return stack[-1]


def unset(key: _TorchDispatchModeKey) -> Any:
    """Take the infrastructure's mode with a key off the stack; None where there is none."""
    mode = mode_with(key)
    if mode is not None:
        set_stack(tuple(other for other in modes.get() if other is not mode))
    return mode


def mode_with(key: _TorchDispatchModeKey) -> Any:
    """The infrastructure's mode with a key; None where there is none."""
    return next((mode for mode in modes.get() if key_of(mode) is key), None)


def at(index: int) -> Any:
    """A mode by its place, 0 the outermost."""
    stack = modes.get()
    if not 0 <= index < len(stack):
        raise ArgumentError(f"Tried to get stack at idx that's too big: {index}; the stack has {len(stack)} modes")
    return stack[index]


def set_stack(stack: tuple[Any, ...]) -> None:
    """Replace the whole stack, and include the key Python while there is a mode on it."""
    modes.set(stack)
    included, allowed = active_keys.get()
    active_keys.set((included_for(stack, included), allowed))


def included_for(stack: tuple[Any, ...], included: int) -> int:
    """The keys to include while these modes are on: with Python if there is at least one."""
    return included | PYTHON if stack else included & ~PYTHON
