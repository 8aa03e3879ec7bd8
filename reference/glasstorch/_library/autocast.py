"""How are the arguments of a user's operator cast by autocast?

Mirrors: torch/_library/custom_ops.py (_cast, CustomOpDef.register_autocast), torch/library.py (register_autocast)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.amp.settings import autocast_device
from glasstorch.amp.state import is_autocast_available
from glasstorch.core.dtype import dtype, float64
from glasstorch.core.keys import below
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys, compute_keys
from glasstorch.dispatch.operator import Boxed, Operator, keys_of


def check_device(device_type: object) -> str:
    """The name of a device that autocast knows."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if not is_autocast_available(device_type):
        raise ValueError(f"Device type '{device_type}' does not support autocast.")
    return device_type


def autocast_kernel(operator: Operator, device_type: str, target: Callable[[], dtype]) -> tuple[Boxed, str]:
    """A kernel that casts and then calls the operator with autocast off, and the key that it is for."""
    key = autocast_device(device_type).key
    without = below(key)

    def kernel(keys: int, *arguments: Any) -> Any:
        included, allowed = active_keys.get()
        token = active_keys.set((included, allowed & without))
        try:
            given = cast(arguments, device_type, target())
            found = compute_keys(keys_of(given))
            return operator.table[found](found, *given)
        finally:
            active_keys.reset(token)

    return kernel, key


def cast(value: Any, device_type: str, to: dtype) -> Any:
    """A value in which every tensor of floating point on this device, float64 aside, has another dtype."""
    if isinstance(value, TensorImpl):
        eligible = value.dtype.is_floating_point and value.dtype is not float64 and value.device.type == device_type
        return value.to(to) if eligible else value  # type: ignore[attr-defined]
    if isinstance(value, list | tuple):
        return type(value)(cast(one, device_type, to) for one in value)
    return value
