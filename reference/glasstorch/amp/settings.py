"""For which devices is autocast on, to which dtype does it cast, and does it keep its casts?

Each thread and each asyncio task has settings of its own, as it has active keys. Whether autocast is on for a device is
not stored here: its key is allowed or masked in `dispatch/active_keys.py`, like any mode's.

Mirrors: aten/src/ATen/autocast_mode.h (is_autocast_available, get_autocast_dispatch_key_from_device_type),
    autocast_mode.cpp (is_autocast_enabled, autocast_dtype, cache_enabled, nesting)
Differs: ContextVars instead of thread-locals. Only `cpu` and `cuda` have kernels, and a program's own device those
    that it registers (utils/backend_registration.py); for PyTorch's other devices the settings can be read and set,
    and no tensor has their keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final, NamedTuple

from glasstorch.core.device import PRIVATE_USE, device_from, private_use
from glasstorch.core.dtype import bfloat16, dtype, float16
from glasstorch.core.errors import DeviceError
from glasstorch.core.keys import FUNCTIONALITY_BIT
from glasstorch.core.private_use import registered
from glasstorch.dispatch.active_keys import active_keys


class AutocastDevice(NamedTuple):
    """The key of autocast on a type of device, and the dtype that it casts to unless told otherwise."""

    key: str
    dtype: dtype


DEVICES: Final = {
    "cpu": AutocastDevice("AutocastCPU", bfloat16),
    "cuda": AutocastDevice("AutocastCUDA", float16),
    "mtia": AutocastDevice("AutocastMTIA", float16),
    "maia": AutocastDevice("AutocastMAIA", bfloat16),
    "xpu": AutocastDevice("AutocastXPU", float16),
    "ipu": AutocastDevice("AutocastIPU", float16),
    "hpu": AutocastDevice("AutocastHPU", bfloat16),
    "xla": AutocastDevice("AutocastXLA", bfloat16),
    "privateuseone": AutocastDevice("AutocastPrivateUse1", float16),
    "mps": AutocastDevice("AutocastMPS", float16),
}

lower_precision: ContextVar[Mapping[str, dtype]] = ContextVar(
    "lower_precision", default=MappingProxyType({name: one.dtype for name, one in DEVICES.items()})
)
keeps_casts: ContextVar[bool] = ContextVar("keeps_casts", default=True)
nesting: ContextVar[int] = ContextVar("nesting", default=0)  # how many autocast blocks the running code is inside of


def kind_of(name: str) -> str:
    """The type of device that a string names, as in DEVICES: a program's own device is "privateuseone" there."""
    if name in DEVICES:
        return name
    kind = device_from(name).type  # refuses what is no device at all
    return PRIVATE_USE if kind == private_use.name else kind


def autocast_device(name: str) -> AutocastDevice:
    """The entry of a type of device; a DeviceError where autocast knows none of that name."""
    found = DEVICES.get(kind_of(name))
    if found is None:
        raise DeviceError(f"unknown device type for autocast: {name!r}; expected one of {', '.join(DEVICES)}")
    return found


def supported_dtypes(name: str) -> tuple[dtype, ...]:
    """The dtypes that autocast casts to on a type of device; the module of a program's own device says its."""
    if name != private_use.name:
        return bfloat16, float16
    module = registered.module
    if not hasattr(module, "get_amp_supported_dtype"):
        missing = "" if module is None else "But the func `get_amp_supported_dtype` is missing. \n"
        raise AssertionError(
            f"Tried to use AMP with the `{name}` backend, but the backend has not registered a module or  the module "
            f"miss some necessary funcs. The backend should register a module by `torch._register_device_module`, and "
            f"the module must have these funcs: \n`get_amp_supported_dtype() -> List[torch.dtype]`. \n{missing}"
        )
    return tuple(module.get_amp_supported_dtype())


def shown_name(name: str) -> str:
    """How warnings call a type of device."""
    return name if name == private_use.name else name.upper()


def is_on(name: str) -> bool:
    """Whether calls on this type of device go through autocast's kernels."""
    return bool(active_keys.get()[1] & FUNCTIONALITY_BIT[autocast_device(name).key])


def switch(name: str, on: bool) -> None:
    """Allow, or mask, autocast's key for a type of device in the running context."""
    included, allowed = active_keys.get()
    bit = FUNCTIONALITY_BIT[autocast_device(name).key]
    active_keys.set((included, allowed | bit if on else allowed & ~bit))
