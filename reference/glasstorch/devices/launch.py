"""How is a kernel launched on tensors?

Mirrors: the `<<<grid, block, shared, stream>>>` of CUDA C++; c10/cuda/CUDAException.h (C10_CUDA_KERNEL_LAUNCH_CHECK)
Differs: tensors are passed directly; their devices and dtypes are compared with the kernel's parameters.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Final

from glasstorch.core.errors import ArgumentTypeError, DeviceError, DtypeError
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.devices.driver import Argument, Dim, Kernel, Parameter
from glasstorch.devices.runtime import current_stream, driver, set_device

Size = int | tuple[int, ...]

BLOCK: Final = 256  # the default number of threads per block


def grid_for(count: int, block: int) -> int:
    """The number of blocks of `block` threads that gives each of `count` elements a thread; at least one.

    >>> grid_for(1000, 256)
    4
    """
    return max(1, -(-count // block))


def launch(  # hot path: benchmarks/gpu.py
    kernel: Kernel, grid: Size, block: Size, arguments: Sequence[TensorImpl | Argument], shared_memory: int = 0
) -> None:
    """Queue a kernel on the current stream of the first tensor's device; without tensors, of the current device.

    `grid` and `block` have one to three sizes, x first. A tensor is passed as the address of its first element; an int
    is an address, a NumPy scalar a value. `shared_memory` is the dynamic part, in bytes. DeviceError if a tensor is on
    another device, DtypeError if its dtype is not the parameter's, ArgumentTypeError if a size is not an int.
    """
    grid, block = _dim("grid", grid), _dim("block", block)
    if type(shared_memory) is not int:
        shared_memory = _bytes(shared_memory)
    device = current = driver().current_device()
    for argument in arguments:
        if isinstance(argument, TensorImpl):
            device = device if argument.device.index is None else argument.device.index
            break
    signature = kernel.signature
    taken: list[Argument] = []
    for number, argument in enumerate(arguments):
        if isinstance(argument, TensorImpl):
            on = argument.device
            if on.type != "cuda" or on.index != device:
                raise DeviceError(
                    f"{kernel.name}: argument {number} is a tensor on {on}, the kernel is launched on cuda:{device}"
                )
            if signature is not None and number < len(signature):
                _check_dtype(kernel.name, number, signature[number], argument)
            argument = argument.data_ptr()
        taken.append(argument)
    if device == current:
        kernel.launch(grid, block, taken, shared_memory, current_stream(device))
        return
    set_device(device)  # what c10::DeviceGuard does in PyTorch's wrappers around kernels
    try:
        kernel.launch(grid, block, taken, shared_memory, current_stream(device))
    finally:
        set_device(current)


def _dim(what: str, size: object) -> Dim:  # hot path: benchmarks/gpu.py
    """One to three sizes, padded with ones to three. ArgumentTypeError for anything else."""
    if type(size) is int:
        return (size, 1, 1)
    sizes = size if isinstance(size, tuple | list) else (size,)
    try:
        x, y, z = map(operator.index, (*sizes, *(1, 1, 1)[len(sizes) or 3 :]))
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"{what} is {size!r}; expected an int or one to three ints") from None
    return (x, y, z)


def _bytes(size: object) -> int:
    try:
        return operator.index(size)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(f"shared_memory is {size!r}; expected an int, in bytes") from None


def _check_dtype(name: str, number: int, parameter: Parameter, tensor: TensorImpl) -> None:
    elements = tensor.dtype.numpy
    if not parameter.pointer:
        raise DtypeError(f"{name}: argument {number} is a tensor, the parameter is {parameter}, which is no pointer")
    if parameter.kind != "V" and (elements.kind, elements.itemsize) != (parameter.kind, parameter.size):
        raise DtypeError(f"{name}: argument {number} is a tensor of {tensor.dtype}, the parameter is {parameter}")
