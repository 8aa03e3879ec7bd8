"""How does `asarray` convert an object to a tensor, and when does it copy?

Mirrors: torch/csrc/utils/tensor_new.cpp (asarray)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.calls.overloaded import UNASKED, ask_modes
from glasstorch.core import hooks, private_use
from glasstorch.core.device import chosen, chosen_device, device_from
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import get_default_dtype
from glasstorch.core.errors import ArgumentError, ArgumentValueError
from glasstorch.core.plain_types import PLAIN
from glasstorch.core.warn_once import warn_once
from glasstorch.outside_data import dlpack
from glasstorch.outside_data.creation import tensor
from glasstorch.outside_data.foreign_memory import checked_dtype, from_dlpack, frombuffer
from glasstorch.outside_data.from_data import is_tensor, over_array, warn_of_read_only

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

__all__ = ["asarray"]


def asarray(
    obj: Any,
    *,
    dtype: Dtype | type | None = None,
    device: Device | str | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """A tensor of a tensor, array, NumPy scalar, DLPack capsule, buffer, number or nested sequence.

    Tensors, arrays, capsules and buffers share their memory with the result where dtype and device allow it; `copy`
    says that they must not (True) or must (False). A buffer is read as the default dtype unless one is given.
    `requires_grad` defaults to the object's; it is also set on a tensor that is returned itself.
    """
    if not PLAIN:  # a mode is on
        options = {"dtype": dtype, "device": device, "copy": copy, "requires_grad": requires_grad}
        answer = ask_modes(asarray, "torch.asarray", (obj,), **options)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    wanted = None if dtype is None else checked_dtype("asarray", dtype)
    if device is None and chosen.ever:
        device = chosen_device()
    on = None if device is None else _indexed(device_from(device))
    source = _aliasing(obj, wanted, copy)
    if source is None:
        if copy is False:
            raise ArgumentValueError("can't alias arbitrary sequence into a tensor.")
        return tensor(obj, dtype=wanted, device=on, requires_grad=bool(requires_grad))
    result = _converted(source, wanted, on, copy)
    if result is source and isinstance(obj, np.ndarray) and not obj.flags.writeable:
        warn_of_read_only(stacklevel=2)
    return _with_gradient(result, requires_grad, source.requires_grad)


def _indexed(on: Device) -> Device:
    return private_use.with_index(on)


def _aliasing(obj: Any, wanted: Dtype | None, copy: bool | None) -> Tensor | None:
    """A tensor over the object's memory; None if it has no memory that a tensor can share."""
    if is_tensor(obj):
        return obj
    if isinstance(obj, np.generic):
        if copy is False:
            raise ArgumentError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
        return over_array(np.array(obj))
    if isinstance(obj, np.ndarray):
        return over_array(obj)
    if dlpack.is_capsule(obj) or hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=wanted or get_default_dtype())


def _converted(source: Tensor, wanted: Dtype | None, on: Device | None, copy: bool | None) -> Tensor:
    """The source itself if dtype and device match and no copy is required; else a copy, if one is allowed."""
    other_device = on is not None and on is not source.device
    other_dtype = wanted is not None and wanted is not source.dtype
    if copy is False:
        if other_device:
            raise ArgumentValueError(f"can't alias tensor from device '{source.device}' to '{on}'.")
        if other_dtype:
            assert wanted is not None
            raise ArgumentValueError(
                f"can't alias tensor with dtype '{source.dtype.scalar_name}' into dtype '{wanted.scalar_name}'."
            )
        return source
    if other_device or other_dtype:
        return source.to(on or source.device, wanted or source.dtype, copy=bool(copy))
    return source.clone() if copy else source


def _with_gradient(result: Tensor, requires_grad: bool | None, of_source: bool) -> Tensor:
    """The tensor with `requires_grad` set; a non-leaf is detached if it should not require grad."""
    if requires_grad is None:
        if not of_source:
            return result
        warn_once(
            "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
            "requires_grad=False explicitly to get the old behavior and silence this warning."
        )
        requires_grad = True
    if not result.is_leaf:
        return result if requires_grad else result.detach()
    return hooks.required(result, requires_grad)
