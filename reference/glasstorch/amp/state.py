"""How does a program read and set what autocast does, without a block?

`torch.autocast` is made of these functions, and so are programs that enter and leave autocast by hand.

Mirrors: torch/csrc/autograd/init.cpp (is_autocast_enabled, set_autocast_enabled ... and their forms for one device)
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, TypeVar

from glasstorch.amp.kernels import register_autocast_kernels
from glasstorch.amp.settings import (
    DEVICES,
    autocast_device,
    is_on,
    keeps_casts,
    kind_of,
    lower_precision,
    nesting,
    switch,
)
from glasstorch.core.dtype import dtype as dtype_
from glasstorch.core.user_line import warn_user
from glasstorch.operators.operator_row import AUTOCAST_DEVICES

__all__ = [
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "get_autocast_ipu_dtype",
    "get_autocast_xla_dtype",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "is_autocast_ipu_enabled",
    "is_autocast_xla_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_autocast_gpu_dtype",
    "set_autocast_ipu_dtype",
    "set_autocast_ipu_enabled",
    "set_autocast_xla_dtype",
    "set_autocast_xla_enabled",
]

F = TypeVar("F", bound=Callable[..., Any])


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast knows a type of device, such as "cpu" or "cuda"; it need not be present."""
    _check("_is_autocast_available", "device_type", 1, device_type, str)
    return kind_of(device_type) in DEVICES


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether the running code is inside an autocast block for a type of device."""
    _check("is_autocast_enabled", "device_type", 1, device_type, str)
    return is_on(device_type)


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """Switch autocast on or off for a type of device; with one argument, which says whether, for "cuda"."""
    name, on = ("cuda", device_type) if enabled is None and isinstance(device_type, bool) else (device_type, enabled)
    _check("set_autocast_enabled", "device_type", 1, name, str)
    _check("set_autocast_enabled", "enabled", 2, on, bool)
    autocast_device(str(name))  # refuses what it does not know
    kind = kind_of(str(name))
    if on and kind in AUTOCAST_DEVICES:
        register_autocast_kernels(kind)
    switch(kind, bool(on))


def get_autocast_dtype(device_type: str) -> dtype_:
    """The dtype that autocast casts to on a type of device."""
    _check("get_autocast_dtype", "device_type", 1, device_type, str)
    autocast_device(device_type)
    return lower_precision.get()[kind_of(device_type)]


def set_autocast_dtype(device_type: str, dtype: dtype_) -> None:
    """Set the dtype that autocast casts to on a type of device; it is not checked."""
    _check("set_autocast_dtype", "device_type", 1, device_type, str)
    _check("set_autocast_dtype", "dtype", 2, dtype, dtype_)
    autocast_device(device_type)
    lower_precision.set(MappingProxyType({**lower_precision.get(), kind_of(device_type): dtype}))


def is_autocast_cache_enabled() -> bool:
    """Whether the casts of weights are kept: Note [Casts that are kept] (casts.py)."""
    return keeps_casts.get()


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Say whether the casts of weights are kept from now on; those that were kept stay."""
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    keeps_casts.set(enabled)


def autocast_increment_nesting() -> int:
    """Count an autocast block that begins; returns how many there are now."""
    nesting.set(nesting.get() + 1)
    return nesting.get()


def autocast_decrement_nesting() -> int:
    """Count an autocast block that ends; returns how many are left."""
    nesting.set(nesting.get() - 1)
    return nesting.get()


def _check(function: str, argument: str, position: int, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        name = "torch.dtype" if kind is dtype_ else kind.__name__
        raise TypeError(
            f"{function}(): argument '{argument}' (position {position}) must be {name}, not {type(value).__name__}"
        )


# The forms for one device, which are deprecated -----------------------------------------------------------------


def _is_enabled(name: str, device: str) -> Callable[[], bool]:
    def is_enabled() -> bool:
        _advise(f"is_autocast_{name}_enabled()", f"is_autocast_enabled('{device}')")
        return is_autocast_enabled(device)

    return _named(is_enabled, f"is_autocast_{name}_enabled", f'`is_autocast_enabled("{device}")`; deprecated.')


def _set_enabled(name: str, device: str) -> Callable[[bool], None]:
    def set_enabled(enabled: bool) -> None:
        if not isinstance(enabled, bool):
            raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
        _advise(f"set_autocast_{name}_enabled(enabled)", f"set_autocast_enabled('{device}', enabled)")
        set_autocast_enabled(device, enabled)

    return _named(set_enabled, f"set_autocast_{name}_enabled", f'`set_autocast_enabled("{device}", ...)`; deprecated.')


def _get_dtype(name: str, device: str) -> Callable[[], dtype_]:
    def get_dtype() -> dtype_:
        _advise(f"get_autocast_{name}_dtype()", f"get_autocast_dtype('{device}')")
        return get_autocast_dtype(device)

    return _named(get_dtype, f"get_autocast_{name}_dtype", f'`get_autocast_dtype("{device}")`; deprecated.')


def _set_dtype(name: str, device: str) -> Callable[[dtype_], None]:
    def set_dtype(dtype: dtype_) -> None:
        if not isinstance(dtype, dtype_):
            raise TypeError(f"dtype must be a torch.dtype (got {type(dtype).__name__})")
        _advise(f"set_autocast_{name}_dtype(dtype)", f"set_autocast_dtype('{device}', dtype)")
        set_autocast_dtype(device, dtype)

    return _named(set_dtype, f"set_autocast_{name}_dtype", f'`set_autocast_dtype("{device}", ...)`; deprecated.')


def _advise(old: str, new: str) -> None:
    warn_user(f"torch.{old} is deprecated. Please use torch.{new} instead.", DeprecationWarning)


def _named(function: F, name: str, doc: str) -> F:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


is_autocast_cpu_enabled = _is_enabled("cpu", "cpu")
is_autocast_ipu_enabled = _is_enabled("ipu", "ipu")
is_autocast_xla_enabled = _is_enabled("xla", "xla")
set_autocast_cpu_enabled = _set_enabled("cpu", "cpu")
set_autocast_ipu_enabled = _set_enabled("ipu", "ipu")
set_autocast_xla_enabled = _set_enabled("xla", "xla")
get_autocast_cpu_dtype = _get_dtype("cpu", "cpu")
get_autocast_gpu_dtype = _get_dtype("gpu", "cuda")
get_autocast_ipu_dtype = _get_dtype("ipu", "ipu")
get_autocast_xla_dtype = _get_dtype("xla", "xla")
set_autocast_cpu_dtype = _set_dtype("cpu", "cpu")
set_autocast_gpu_dtype = _set_dtype("gpu", "cuda")
set_autocast_ipu_dtype = _set_dtype("ipu", "ipu")
set_autocast_xla_dtype = _set_dtype("xla", "xla")
