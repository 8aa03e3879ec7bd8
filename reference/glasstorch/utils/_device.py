"""How does a block make tensors on another device than the default one?

Mirrors: torch/utils/_device.py
Differs: `with torch.device("meta"):` and `set_default_device` do not use this mode: the device is read where a factory
    chooses its backend (core/device.py), which costs other calls nothing. The mode is for programs that push it
    themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, Self

from glasstorch import fft
from glasstorch.calls.overloaded import mode_stack, pop_mode, push_mode
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
