"""How do `tensor` and `as_tensor` turn Python and NumPy data into a tensor?

Mirrors: torch/csrc/utils/tensor_new.cpp (internal_new_from_data, tensor_ctor, as_tensor, asarray), tensor_numpy.cpp
Differs: nested sequences are read in outside_data/nested.py.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.calls.overloaded import UNASKED, DisableTorchFunction, ask_modes
from glasstorch.core import hooks
from glasstorch.core.device import chosen, chosen_device
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.plain_types import PLAIN
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.core.typed_storage import TypedStorage
from glasstorch.dispatch.active_keys import INCLUDED_BY_DEFAULT, active_keys
from glasstorch.outside_data.foreign_memory import checked_dtype, from_dlpack, over_cuda_interface
from glasstorch.outside_data.from_data import is_tensor, lifted, over_array, over_storage, warn_of_read_only
from glasstorch.outside_data.nested import array_of

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

__all__ = ["as_tensor", "tensor"]


def tensor(
    data: Any,
    *,
    dtype: Dtype | type | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with the elements of nested lists, numbers, an array or a tensor, which are copied.

    A storage is not copied: the tensor is over its memory, as in PyTorch.

    Without `dtype` an array keeps its own, Python floats become the default dtype, ints int64 and bools bool.

    >>> tensor([[1, 2], [3, 4.5]]).dtype
    torch.float32
    """
    if not PLAIN:  # a mode is on
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad, "pin_memory": pin_memory}
        answer = ask_modes(tensor, "torch.tensor", (data,), **options)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.made_from_data("torch.tensor")
    if isinstance(data, TensorImpl):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    if device is None and chosen.ever:
        device = chosen_device()
    result = _copied(data, _dtype("tensor", dtype))
    return _finished(result.pin_memory() if pin_memory else result, device, requires_grad)


def as_tensor(data: Any, dtype: Dtype | type | None = None, device: Device | str | None = None) -> Tensor:
    """The data as a tensor: a tensor itself, an array's memory shared, anything else copied."""
    if not PLAIN:
        answer = ask_modes(as_tensor, "torch.as_tensor", (data,), dtype=dtype, device=device)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.made_from_data("torch.as_tensor")
    if device is None and chosen.ever:
        device = chosen_device()
    wanted = _dtype("as_tensor", dtype)
    if isinstance(data, Storage | TypedStorage):
        return _finished(over_storage(data, wanted), device, False)
    result = data if is_tensor(data) else _sharing(data)
    if result is None:
        return _finished(lifted(hooks.tensor_hooks.wrap(*array_of(data, wanted))), device, False)
    if isinstance(data, np.ndarray) and not data.flags.writeable:
        warn_of_read_only(stacklevel=2)
    result = result if wanted is None else result.to(wanted)
    return result if device is None else result.to(device)


def _sharing(data: Any) -> Tensor | None:
    """A tensor over the memory of another library's array; None for an object without memory to share."""
    if isinstance(data, list | tuple | int | float | complex):
        return None
    if isinstance(data, np.ndarray):
        return over_array(data)
    if hasattr(data, "__cuda_array_interface__"):
        return over_cuda_interface(data)
    return from_dlpack(data) if hasattr(data, "__dlpack__") else None


def _dtype(function: str, given: Dtype | type | None) -> Dtype | None:
    """A dtype, also given as a Python type."""
    return None if given is None else checked_dtype(function, given)


def _finished(result: Tensor, device: Device | str | None, requires_grad: bool) -> Tensor:
    if device is not None:
        result = result.to(device)
    return hooks.required(result) if requires_grad else result


def _copied(data: Any, dtype: Dtype | None) -> Tensor:
    """A fresh tensor of the data, in the given dtype or in that of the data."""
    if isinstance(data, Storage | TypedStorage):
        return over_storage(data, dtype)
    if isinstance(data, TensorImpl) and type(data) not in PLAIN:
        with DisableTorchFunction():  # the code is compiled in PyTorch, and asks nobody
            plain: Any = data
            bare: Tensor = plain.detach().as_subclass(hooks.tensor_hooks.tensor_class())
            return bare.to(bare.dtype if dtype is None else dtype, copy=True)
    source = data.detach() if is_tensor(data) else _sharing(data)
    if source is None:
        made = hooks.tensor_hooks.wrap(*array_of(data, dtype))
        return made if active_keys.get()[0] == INCLUDED_BY_DEFAULT else lifted(made)
    return source.to(source.dtype if dtype is None else dtype, copy=True)
