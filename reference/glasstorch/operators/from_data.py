"""How do the constructor of Tensor, `new` and `new_tensor` read their arguments?

Mirrors: torch/csrc/utils/tensor_new.cpp (legacy_tensor_generic_ctor_new, new_tensor)
Differs: storages are not taken; `set_` gives a tensor another one.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from glasstorch.core import hooks
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.geometry import Size
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.generated import functions
from glasstorch.operators.nested import array_of
from glasstorch.operators.parser import PYTHON_TYPES

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

NO_DETACHED_COPY = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than {}."
)


def legacy(data: tuple[Any, ...], dtype: Dtype, on: Device) -> Tensor:
    """An uninitialised tensor, where the arguments are sizes; or else a tensor of the one argument's elements.

    A tensor gives another one on its storage, whatever its dtype.
    """
    if len(data) == 1 and isinstance(data[0], Size):
        data = tuple(data[0])
    if all(type(size) is int for size in data):
        return functions.empty(data or (0,), dtype=dtype, device=on)
    only = data[0] if len(data) == 1 else None
    if isinstance(only, TensorImpl):
        shared: Tensor = functions.detach(only)  # type: ignore[arg-type]
        return shared
    if hasattr(type(only), "__getitem__"):
        made: Tensor = hooks.tensor_hooks.wrap(*array_of(only, dtype)).to(on)
        return made
    given = ", ".join(type(value).__name__ for value in data)
    raise ArgumentTypeError(f"new(): data must be a sequence (got {given}); expected sizes, or use tensor()")


def new(self: Tensor, *data: Any, device: Any = None) -> Tensor:
    """As the constructor `Tensor(...)`, in this tensor's dtype and on its device."""
    return legacy(data, self.dtype, self.device if device is None else Device(device))


def new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor of the data, as `tensor` makes it; without others given, of this tensor's dtype and device."""
    wanted = self.dtype if dtype is None else PYTHON_TYPES.get(dtype, dtype)
    if not isinstance(wanted, Dtype):
        raise ArgumentTypeError(f"new_tensor(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    made: Any
    if isinstance(data, TensorImpl):
        warnings.warn(NO_DETACHED_COPY.format("tensor.new_tensor(sourceTensor)"), UserWarning, stacklevel=2)
        made = functions.detach(data).to(wanted, copy=True)  # type: ignore[arg-type]
    else:
        made = hooks.tensor_hooks.wrap(*array_of(data, wanted))
    made = (made.pin_memory() if pin_memory else made).to(self.device if device is None else device)
    result: Tensor = made.requires_grad_() if requires_grad else made
    return result
