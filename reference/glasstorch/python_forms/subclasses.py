"""How is an instance of a subclass of Tensor made, around data or without any?

Mirrors: torch/csrc/autograd/python_variable.cpp (THPVariable_make_subclass, THPVariable_make_wrapper_subclass,
    THPVariable_NewWithVar, make_tensor_for_subclass_helper)
Differs: a class is asked for sizes, strides, the device and the layout by programs alone: calls/questions.py.

A class that has a `__torch_dispatch__` gives its instances the keys Python and PythonTLSSnapshot. An instance that
wraps other tensors has sizes, strides, a dtype and a device, and a storage of that length without bytes: what it stands
for is the business of its class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from glasstorch.calls.questions import let_class_answer
from glasstorch.core import geometry, hooks, inference
from glasstorch.core.device import CPU, device_from
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import get_default_dtype
from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.core.geometry import Size
from glasstorch.core.keys import KEYS_OF_DEVICE, PYTHON, DispatchKeySet
from glasstorch.core.layout import strided
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch import mode_stack
from glasstorch.dispatch.python_fallback import OF_SUBCLASSES, overrides_dispatch

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


class Unbacked(UntypedStorage):
    """The storage of a tensor that wraps others: it has a length, and refuses to show bytes."""

    __slots__ = ()

    generation = 0
    stands_for_others = True
    memory = property(lambda self: _refuse_bytes())

    def __init__(self, nbytes: int, on: Device) -> None:
        self._nbytes = nbytes
        self.device = on
        self.may_resize = self.cloned_at_once = False
        self.block = self.lazy = self.shared = None

    def data_ptr(self) -> int:
        raise RuntimeError("Attempted to access the data pointer on an invalid python storage.")

    def address(self) -> int:
        return 0

    def resize_(self, nbytes: int) -> UntypedStorage:
        """Change the length, of which no byte is there."""
        self._nbytes = nbytes
        return self


def _refuse_bytes() -> NoReturn:
    raise RuntimeError(
        "The tensor has a non-zero number of elements, but its data is not allocated yet.\nIt wraps other tensors: its "
        "class's __torch_dispatch__ must compute with those."
    )


def _make_subclass(
    cls: Any,
    data: Tensor,
    require_grad: bool = False,
    dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    device_for_backend_keys: Any = None,
) -> Any:
    """An instance of a subclass of Tensor that shares the memory of `data`, without its history."""
    check_class(cls)
    if device_for_backend_keys is not None:
        raise NotImplementedError("_make_subclass: device_for_backend_keys is not in glasstorch; use a wrapper")
    if not isinstance(data, TensorImpl):
        raise ArgumentTypeError(
            f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}"
        )
    if data.key_set & PYTHON:
        data = without_modes(data.detach)
        if data.key_set & PYTHON:
            raise ArgumentError(
                f"Creating a new Tensor subclass {cls.__name__} but the raw Tensor object is already associated to a "
                f"python object of type {type(data).__name__}"
            )
    made = hooks.tensor_hooks.alias(data, cls)
    if require_grad:
        hooks.required(made)
    let_class_answer(made, dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)
    return made


def _make_wrapper_subclass(
    cls: Any,
    size: Sequence[int],
    strides: Sequence[int] | None = None,
    storage_offset: int | None = None,
    memory_format: Any = None,
    dtype: Dtype | None = None,
    layout: Any = strided,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    _extra_dispatch_keys: DispatchKeySet | None = None,
    storage_size: int | None = None,
) -> Any:  # hot path: benchmarks/library.py
    """An instance of a subclass of Tensor with these facts and no bytes; the class must have a `__torch_dispatch__`.

    Without `strides` it is row-major, whatever the `memory_format`, as in PyTorch.
    """
    if not (isinstance(cls, type) and issubclass(cls, TensorImpl)):
        check_class(cls)
    if not overrides_dispatch(cls):
        raise ArgumentTypeError(f"{cls.__name__} must define __torch_dispatch__")
    if pin_memory:
        raise ArgumentError("_make_wrapper_subclass: pin_memory=True is refused: there are no bytes to pin")
    if layout is not strided:
        raise NotImplementedError(f"_make_wrapper_subclass: layout={layout} is not in glasstorch; use torch.strided")
    shape = tuple(size) if type(size) is Size else tuple(map(int, size))
    if shape and min(shape) < 0:
        raise ArgumentError(f"_make_wrapper_subclass: sizes must be 0 or more, got {shape}")
    steps = None if strides is None else _strides(shape, strides)
    offset = 0 if storage_offset is None else int(storage_offset)
    on = CPU if device is None else device_from(device)
    kind = get_default_dtype() if dtype is None else dtype
    nbytes = storage_size
    if nbytes is None:
        extent = math.prod(shape) if steps is None else geometry.span(shape, steps)
        nbytes = (offset + extent) * kind.itemsize if extent else 0
    made = hooks.tensor_hooks.make(Unbacked(nbytes, on), kind, shape, steps, offset, cls)
    extra = 0 if _extra_dispatch_keys is None else _extra_dispatch_keys.bits
    keys = KEYS_OF_DEVICE[on.type] | extra
    made.key_set = OF_SUBCLASSES | (inference.keys_of_new(keys) if inference.entered else keys)
    if requires_grad:
        hooks.required(made)
    if dispatch_sizes_strides_policy is not None or dispatch_device or dispatch_layout:
        let_class_answer(made, dispatch_sizes_strides_policy, dispatch_device, dispatch_layout)
    return made


def _strides(shape: tuple[int, ...], strides: Sequence[int]) -> tuple[int, ...]:
    given = tuple(map(int, strides))
    if len(given) != len(shape):
        raise ArgumentError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(given)}): "
            f"_make_wrapper_subclass was given {shape} and {given}"
        )
    return given


def check_class(cls: Any) -> None:
    if not isinstance(cls, type):
        raise ArgumentTypeError(f"cls must be a type (got {type(cls).__name__})")
    if not issubclass(cls, TensorImpl):
        raise ArgumentTypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure "
            "your class inherits from Tensor."
        )


def is_a_mode_on() -> bool:
    """Whether a mode sees the operators that run."""
    return bool(mode_stack.modes.get())


def without_modes(function: Callable[[], Any]) -> Any:
    """The result of a function whose operators no mode sees; classes of tensors are asked."""
    stack = mode_stack.modes.get()
    mode_stack.set_stack(())
    try:
        return function()
    finally:
        mode_stack.set_stack(stack)
