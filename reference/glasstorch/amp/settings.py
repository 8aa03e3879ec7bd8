"""For which devices is autocast on, to which dtype does it cast, and does it keep its casts?

Each thread and each asyncio task has settings of its own, as it has active keys. Whether autocast is on for a device is
not stored here: its key is allowed or masked in `dispatch/active_keys.py`, like any mode's.

Mirrors: aten/src/ATen/autocast_mode.h (is_autocast_available, get_autocast_dispatch_key_from_device_type),
    autocast_mode.cpp (is_autocast_enabled, autocast_dtype, cache_enabled, nesting)
Differs: ContextVars instead of thread-locals. Only `cpu` and `cuda` have kernels; for PyTorch's other devices the
    settings can be read and set, and no tensor has their keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final, NamedTuple

from glasstorch.core.device import device
from glasstorch.core.dtype import bfloat16, dtype, float16
from glasstorch.core.errors import DeviceError
from glasstorch.core.keys import FUNCTIONALITY_BIT
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


def autocast_device(name: str) -> AutocastDevice:
    """The entry of a type of device; a DeviceError where autocast knows none of that name."""
    found = DEVICES.get(name)
    if found is None:
        kind = device(name).type  # refuses what is no device at all
        found = DEVICES.get(kind)
    if found is None:
        raise DeviceError(f"unknown device type for autocast: {name!r}; expected one of {', '.join(DEVICES)}")
    return found


def is_on(name: str) -> bool:
    """Whether calls on this type of device go through autocast's kernels."""
    return bool(active_keys.get()[1] & FUNCTIONALITY_BIT[autocast_device(name).key])


def switch(name: str, on: bool) -> None:
    """Allow, or mask, autocast's key for a type of device in the running context."""
    included, allowed = active_keys.get()
    bit = FUNCTIONALITY_BIT[autocast_device(name).key]
    active_keys.set((included, allowed | bit if on else allowed & ~bit))
