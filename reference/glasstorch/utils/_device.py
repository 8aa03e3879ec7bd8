"""How does a block make tensors on another device than the default one?

Mirrors: torch/utils/_device.py
Differs: the modes of `with torch.device("meta"):` and of `set_default_device` stand on the stack, where other modes and
    programs find them, and are asked where a mode is asked anyway. No call is made to ask them: the device is read
    where a factory chooses its backend (core/device.py), which costs other calls nothing. A mode that a program pushes
    itself is asked by every call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any, Self

from glasstorch import fft
from glasstorch.calls.overloaded import NobodyAsked, mode_stack, pop_mode, push_mode
from glasstorch.core.device import device as Device
from glasstorch.operators.generated import public
from glasstorch.outside_data import asarray, creation
from glasstorch.overrides import TorchFunctionMode, is_factory
from glasstorch.python_forms.range import range as range_

CURRENT_DEVICE: Device | None = None


@cache
def _device_constructors() -> frozenset[Any]:
    """The functions that make a tensor from nothing, or from data; not `normal` and `zeros_like`, as in PyTorch."""
    found = {value for space in (public, fft) for value in vars(space).values() if is_factory(value)}
    return frozenset(found | {creation.tensor, creation.as_tensor, asarray.asarray, range_})


class DeviceContext(TorchFunctionMode):
    """A mode that gives factories a device where none is given. It lies below all other modes, and is alone there."""

    is_shown_only = False  # see calls/overloaded.py

    def __init__(self, device: Any) -> None:
        self.device = Device(device)
        self.prev_mode: DeviceContext | None = None

    def __enter__(self) -> Self:
        global CURRENT_DEVICE
        self.old_device, CURRENT_DEVICE = CURRENT_DEVICE, self.device
        modes = [pop_mode() for _ in mode_stack.get()]
        push_mode(self)
        for mode in reversed(modes):
            if isinstance(mode, DeviceContext):
                self.prev_mode = mode
            else:
                push_mode(mode)
        return self

    def __exit__(self, *error: object) -> None:
        global CURRENT_DEVICE
        CURRENT_DEVICE = self.old_device
        modes = [pop_mode() for _ in mode_stack.get()]
        assert isinstance(modes[-1], DeviceContext), "Expected a DeviceContext at the bottom of the mode stack"
        for mode in [self.prev_mode, *reversed(modes[:-1])]:
            if mode is not None:
                push_mode(mode)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        if func in _device_constructors() and given.get("device") is None:
            given = given | {"device": self.device}
        return func(*args, **given)


# Modes of `with torch.device(...)` and `set_default_device` ----------------------------------------------------------

_below_all: ContextVar[DeviceContext | None] = ContextVar("the mode of the default device", default=None)


def _shown(device: Device) -> DeviceContext:
    mode = DeviceContext(device)
    mode.is_shown_only = True
    return mode


def entered(device: Device) -> None:
    """A `with` block begins: its mode is the innermost."""
    push_mode(_shown(device))


def left() -> None:
    """The innermost block ends."""
    pop_mode()


def set_below_all(device: Device | None) -> None:
    """Put the mode of the default device outside all others, in place of the one before; None leaves none there."""
    global CURRENT_DEVICE
    with NobodyAsked():  # who switched the mode on was asked about the device before
        before, mode = _below_all.get(), None if device is None else _shown(device)
    others = (other for other in mode_stack.get() if other is not before)
    mode_stack.set((*(() if mode is None else (mode,)), *others))
    _below_all.set(mode)
    CURRENT_DEVICE = device


def device_decorator(device: Device, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose factories make tensors on a device where none is given."""

    @wraps(func)
    def on_device(*args: Any, **kwargs: Any) -> Any:
        with device:
            return func(*args, **kwargs)

    return on_device


def set_device(device: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function's factories make tensors on a device where none is given."""
    return lambda func: device_decorator(Device(device), func)
