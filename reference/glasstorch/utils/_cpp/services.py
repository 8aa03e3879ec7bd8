"""What may C++ ask of a tensor, of the dispatcher and of what holds in a block?

Mirrors: aten/src/ATen/core/TensorBase.h (the questions), torch/csrc/autograd/variable.cpp, c10/core/GradMode.h
Differs: each question is one call of Python. A guard of C++ is a `with` block that is entered and left by number.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import count
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import inference_mode, no_grad, set_grad_enabled
from glasstorch.core import hooks
from glasstorch.core.dtype import dtype, get_default_dtype
from glasstorch.core.layout import memory_format
from glasstorch.core.user_line import warn_user
from glasstorch.dispatch.guards import AutoDispatchBelowADInplaceOrView, AutoDispatchBelowAutograd
from glasstorch.dispatch.operator import registry
from glasstorch.outside_data.creation import tensor as new_tensor
from glasstorch.utils._cpp.abi import tensors
from glasstorch.utils._cpp.calls import CppLibrary, service

# Calls ----------------------------------------------------------------------------------------------------------


@service
def call(library: CppLibrary, name: str, *arguments: Any) -> list[Any]:
    """An operator's results; the arguments are all those of its schema, in order."""
    operator = registry.find(name)
    schema = operator.schema
    for i, (parameter, argument) in enumerate(zip(schema.arguments, arguments, strict=True)):
        if argument is None and str(parameter.type) == "Tensor":
            raise RuntimeError(
                f"Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #{i} "
                f"'{parameter.name}'"
            )
    values = [
        # `{2}` for `int[2]`: in C++ one number is a list of one.
        value * parameter.type.list_size if parameter.type.list_size and _is_one(value) else value
        for parameter, value in zip(schema.arguments, arguments, strict=True)
    ]
    positional = len(schema.positional)
    named = {a.name: v for a, v in zip(schema.arguments[positional:], values[positional:], strict=True)}
    result = operator(*values[:positional], **named)
    return [*result] if len(schema.returns) > 1 else [result] if schema.returns else []


def _is_one(value: object) -> bool:
    return isinstance(value, list) and len(value) == 1


@service
def find(library: CppLibrary, name: str) -> None:
    """Refuse the name of an operator that does not exist."""
    registry.find(name)


@service
def warn(library: CppLibrary, message: str) -> None:
    """Give a warning of C++ code."""
    warn_user(message)


# Tensors --------------------------------------------------------------------------------------------------------


@service
def release(library: CppLibrary, handle: int) -> None:
    """Forget a handle."""
    del tensors[handle]


@service
def describe(library: CppLibrary, handle: int) -> list[Any]:
    """What C++ keeps of a tensor until the next call: Description in ATen/core/TensorBase.h."""
    tensor = tensors[handle]
    strided = tensor.layout.name == "strided"
    return [
        list(tensor.shape),
        list(tensor.stride()) if strided else [],
        tensor.storage_offset() if strided else 0,
        tensor.numel(),
        tensor.dtype,
        str(tensor.device),
        tensor.layout.name,
        tensor.requires_grad,
        tensor.is_leaf,
        strided and tensor.is_contiguous(),
    ]


@service
def address(library: CppLibrary, handle: int, write: bool) -> list[Any]:
    """The address of a tensor's first element; a lazy copy is made first, where C++ may write."""
    tensor = tensors[handle]
    if tensor.device.type == "meta" and tensor.numel():
        raise RuntimeError(
            "The tensor has a non-zero number of elements, but its data is not allocated yet: it is on the device "
            "meta. Register a kernel under the key Meta, which computes no elements"
        )
    return [tensor.data_ptr() if write else tensor.const_data_ptr()]


@service
def element_size(library: CppLibrary, handle: int) -> list[Any]:
    """Bytes of an element."""
    return [tensors[handle].element_size()]


@service
def is_contiguous(library: CppLibrary, tensor: Tensor, wanted: memory_format) -> list[Any]:
    """Whether a tensor has an order of dimensions in memory."""
    return [tensor.is_contiguous(memory_format=wanted)]


@service
def default_dtype(library: CppLibrary) -> list[Any]:
    """The dtype of floats that say nothing else."""
    return [get_default_dtype()]


@service
def tensor(library: CppLibrary, elements: list[Any], wanted: dtype, device: Any) -> list[Any]:
    """A new tensor of one dimension."""
    return [new_tensor(elements, dtype=wanted, device=device)]


@service
def from_blob(library: CppLibrary, start: int, sizes: list[int], wanted: dtype) -> list[Any]:
    """A tensor over memory of C++ code, contiguous."""
    nbytes = int(np.prod(sizes, dtype=np.int64)) * wanted.itemsize
    memory = memoryview((ctypes.c_uint8 * nbytes).from_address(start))
    return [hooks.tensor_hooks.over(np.frombuffer(memory, wanted.numpy).reshape(sizes), wanted)]


# Autograd -------------------------------------------------------------------------------------------------------


@service
def grad(library: CppLibrary, tensor: Tensor) -> list[Any]:
    """The gradient that a tensor has."""
    return [tensor.grad]


@service
def set_requires_grad(library: CppLibrary, tensor: Tensor, wanted: bool) -> None:
    """Switch on or off that a tensor wants a gradient."""
    tensor.requires_grad = wanted


@service
def backward(
    library: CppLibrary, tensor: Tensor, gradient: Tensor | None, retain_graph: bool | None, create_graph: bool
) -> None:
    """Compute gradients of a tensor."""
    tensor.backward(gradient, retain_graph, create_graph)


@service
def version(library: CppLibrary, tensor: Tensor) -> list[Any]:
    """How often a tensor has been changed in place."""
    return [tensor._version]


# Guards ---------------------------------------------------------------------------------------------------------

GUARDS: Final[dict[str, Callable[[Any], AbstractContextManager[Any]]]] = {
    "below autograd": lambda _: AutoDispatchBelowAutograd(),
    "below ADInplaceOrView": lambda _: AutoDispatchBelowADInplaceOrView(),
    "no_grad": lambda _: no_grad(),
    "grad mode": set_grad_enabled,
    "inference mode": inference_mode,
}
_entered: Final[dict[int, AbstractContextManager[Any]]] = {}
_numbers = count(1)


@service
def enter(library: CppLibrary, kind: str, argument: Any) -> Sequence[Any]:
    """Begin what a guard stands for; the number says which to leave."""
    guard = GUARDS[kind](argument)
    guard.__enter__()
    number = next(_numbers)
    _entered[number] = guard
    return [number]


@service
def leave(library: CppLibrary, number: int) -> None:
    """End it."""
    _entered.pop(number).__exit__(None, None, None)
