"""Which device is meant, where a program names the accelerator by an index, a device or not at all?

Mirrors: torch/accelerator/_utils.py, c10/core/impl/VirtualGuardImpl.h
"""

from __future__ import annotations

from typing import Any

from glasstorch import cuda
from glasstorch.core import private_use
from glasstorch.core.device import device as Device
from glasstorch.core.device import device_from

On = Device | str | int | None


def module() -> Any:
    """The accelerator's module: of a program's own device once that has a name, else `cuda`."""
    if not private_use.is_accelerator():
        return cuda
    private_use.answers()  # an error where there are no hooks
    if private_use.registered.module is None:
        name = private_use.name()
        raise RuntimeError(f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'.")
    return private_use.registered.module


def kind() -> str:
    """The accelerator's type of device."""
    return private_use.name() if private_use.is_accelerator() else "cuda"


def current_index() -> int:
    """The index of the current device."""
    if private_use.is_accelerator():
        return private_use.current_guard().get_device().index or 0
    return cuda.current_device()


def set_index(index: int) -> None:
    """Make a device the current one."""
    if private_use.is_accelerator():
        private_use.current_guard().set_device(device_from(kind(), index))
    else:
        cuda.set_device(index)


def require() -> None:
    """RuntimeError where there is no accelerator."""
    if not module().is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def index_of(device: On, optional: bool = True) -> int:
    """The index of a device, by default the current one; a device of another kind is refused."""
    require()
    if device is None and optional:
        return current_index()
    if isinstance(device, int):
        return device
    on = device_from(device)
    if on.type != kind():
        raise ValueError(f"{on.type} doesn't match the current accelerator {kind()}.")
    return current_index() if on.index is None else on.index
