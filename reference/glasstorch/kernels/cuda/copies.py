"""How are elements copied to, from and within CUDA devices, and device tensors filled?

Mirrors: aten/src/ATen/native/cuda/Copy.cu, aten/src/ATen/native/cuda/FillKernel.cu, CUDAScalar.cu (_local_scalar_dense)
Differs: kernels receive the element types at run time. Copies between devices always go through contiguous memory on
    both sides.

# Note [Copies between main memory and a device]
The driver copies bytes. So both sides must have the same memory order and dtype; where they do not, a contiguous buffer
is used in between. A cast is done on the CPU, or, for a non-blocking copy, on the device; but always on the CPU where
the kernels do not support one of the dtypes, even if both tensors are on a device: then the host waits. A blocking copy
waits for the device's stream; a non-blocking one is asynchronous only where the main memory is pinned.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from glasstorch._tensor import Tensor, empty, empty_strided, make, make_view, wrap
from glasstorch.core.allocator import empty_array
from glasstorch.core.device import CPU
from glasstorch.core.dtype import Number, float64
from glasstorch.core.layout import memory_format
from glasstorch.core.tensor_impl import Array
from glasstorch.devices import runtime
from glasstorch.devices.launch import launch
from glasstorch.devices.modules import kernel
from glasstorch.devices.stream import device as on_device
from glasstorch.devices.transfer import transfer
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.copies import check_copy, same_elements, strides_of_copy
from glasstorch.kernels.cpu.copies import NATIVE, assign
from glasstorch.kernels.cuda.tensors import CODE, is_flat, operands
from glasstorch.operators.shapes.scalars import number_as

CUDA = KernelTable("CUDA")

THREADS = 256  # of a block
MOST_BLOCKS = 1024  # of a grid: enough for every GPU; for more elements, threads loop


def instantiations() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Every kernel that this file may launch, as `modules.kernel` takes it: file, expression, defines."""
    for file, name in (("copies.cu", "copy_words"), ("copies.cu", "copy_cast")):
        yield file, name, ()
    for name in ("fill_words", "fill_elements"):
        yield "fill.cu", name, ()


def blocks_for(count: int) -> int:
    """The number of blocks for a loop over this many elements."""
    return min(-(-count // THREADS), MOST_BLOCKS)


# Elements -------------------------------------------------------------------------------------------------------


@CUDA.impl("copy_")
def copy_(keys: int, self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    """Overwrite with another tensor's elements; one of the two, or both, are on a CUDA device."""
    if not same_elements(self, src):
        check_copy(self, src)
        if self.numel():
            copy_elements(self, src, non_blocking)
    return self


def copy_elements(target: Tensor, source: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy, cast and broadcast between tensors on any two devices, without checks."""
    if not target.numel():
        return target
    if target.device is source.device:
        copy_on_device(target, source)
    elif source.device is CPU:
        to_device(target, source, non_blocking)
    elif target.device is CPU:
        to_host(target, source, non_blocking)
    else:
        to_other_device(target, source)
    return target


def copy_on_device(target: Tensor, source: Tensor) -> None:
    """Copy between tensors on one CUDA device."""
    shape, count = target._shape, target.numel()
    walk = operands(shape, target, source), np.int64(count)
    if target.dtype is not source.dtype and not CODE.keys() >= {target.dtype, source.dtype}:
        to_device(target, wrap(elements_on_host(source), source.dtype), False)
    elif target.dtype is not source.dtype:
        arguments = target, np.int32(CODE[target.dtype]), source, np.int32(CODE[source.dtype]), *walk
        launch(kernel("copies.cu", "copy_cast"), blocks_for(count), THREADS, arguments)
    elif is_flat(shape, target, source):
        transfer(target.data_ptr(), target.device, source.data_ptr(), source.device, target.nbytes)
    elif target.dtype.itemsize > 8:  # copy_words moves 8 bytes at most
        copy_on_device(parts(target), parts(source))
    else:
        words = target, source, np.int32(target.dtype.itemsize), *walk
        launch(kernel("copies.cu", "copy_words"), blocks_for(count), THREADS, words)


def parts(tensor: Tensor) -> Tensor:
    """A complex128 tensor viewed as float64, with a last dimension for the two parts."""
    strides = (*(2 * step for step in tensor.strides()), 1)
    return make(tensor.untyped_storage(), float64, (*tensor._shape, 2), strides, 2 * tensor._offset)


def to_device(target: Tensor, source: Tensor, non_blocking: bool) -> None:
    """Copy from main memory; see Note [Copies between main memory and a device]."""
    if non_blocking and source.dtype is not target.dtype:
        staged = empty(source._shape, source.dtype, target.device)
        to_device(staged, source, non_blocking)
        copy_on_device(target, staged)
    elif target.dtype is source.dtype and is_flat(target._shape, target, source):
        transfer(target.data_ptr(), target.device, source.data_ptr(), CPU, target.nbytes, non_blocking)
    else:
        array = source.array()
        ready = empty_array(array.shape, target.dtype.numpy, prod(array.shape) * target.dtype.itemsize)
        assign(ready, array, target.dtype, source.dtype)
        if target.is_row_major() and array.shape == target._shape:
            transfer(target.data_ptr(), target.device, ready.ctypes.data, CPU, ready.nbytes)
        else:
            staged = empty(array.shape, target.dtype, target.device)
            transfer(staged.data_ptr(), staged.device, ready.ctypes.data, CPU, ready.nbytes)
            copy_on_device(target, staged)


def to_host(target: Tensor, source: Tensor, non_blocking: bool) -> None:
    """Copy to main memory; see Note [Copies between main memory and a device]."""
    if non_blocking and source.dtype is not target.dtype:
        staged = empty(source._shape, target.dtype, source.device)
        copy_on_device(staged, source)
        to_host(target, staged, non_blocking)
    elif target.dtype is source.dtype and is_flat(target._shape, target, source):
        transfer(target.data_ptr(), CPU, source.data_ptr(), source.device, target.nbytes, non_blocking)
    else:
        assign(target.array(), elements_on_host(source), target.dtype, source.dtype)


def to_other_device(target: Tensor, source: Tensor) -> None:
    """Copy from one CUDA device to another; a cast is done on the source device."""
    if target.dtype is not source.dtype or not is_flat(target._shape, target, source):
        ready = empty(source._shape, target.dtype, source.device)
        copy_on_device(ready, source)
        if target._shape != source._shape or not target.is_row_major():
            staged = empty(source._shape, target.dtype, target.device)
            to_other_device(staged, ready)
            copy_on_device(target, staged)
            return
        source = ready
    transfer(target.data_ptr(), target.device, source.data_ptr(), source.device, target.nbytes)


def elements_on_host(tensor: Tensor) -> Array:
    """The elements of a CUDA tensor as a NumPy array of its own."""
    array = empty_array(tensor._shape, tensor.dtype.numpy, tensor.nbytes)
    if not tensor.is_row_major() and tensor.numel():
        staged = empty(tensor._shape, tensor.dtype, tensor.device)
        copy_on_device(staged, tensor)
        tensor = staged
    transfer(array.ctypes.data, CPU, tensor.data_ptr(), tensor.device, array.nbytes)
    return array


def contiguous(tensor: Tensor) -> Tensor:
    """The tensor itself if it is row-major, else a row-major copy."""
    if tensor.is_row_major():
        return tensor
    return copy_elements(empty(tensor._shape, tensor.dtype, tensor.device), tensor)


@CUDA.impl("clone")
def clone(keys: int, self: Tensor, memory_format: memory_format | None) -> Tensor:
    """A copy of the elements in fresh memory."""
    strides = strides_of_copy(self, memory_format)
    if strides is None:
        result = empty(self._shape, self.dtype, self.device)
    else:
        result = empty_strided(self._shape, strides, self.dtype, self.device)
    return copy_elements(result, self)


# One value ------------------------------------------------------------------------------------------------------


@CUDA.impl("fill_.Scalar")
def fill_(keys: int, self: Tensor, value: Number) -> Tensor:
    """Every element set to a number."""
    fill_with(self, np.array(number_as(value, self.dtype)).astype(self.dtype.numpy))
    return self


@CUDA.impl("zero_")
def zero_(keys: int, self: Tensor) -> Tensor:
    """Every element set to 0."""
    fill_with(self, np.zeros((), self.dtype.numpy))
    return self


def fill_with(tensor: Tensor, value: Array) -> None:
    """Every element set to the value of a 0-dim array of the tensor's dtype."""
    nbytes, bits = tensor.nbytes, value.tobytes()
    if not nbytes:
        return
    flat, address = is_flat(tensor._shape, tensor), tensor.data_ptr()
    if flat and bits.count(bits[0]) == len(bits):  # all bytes are the same
        with on_device(tensor.device):
            runtime.driver().memset_async(address, bits[0], nbytes, runtime.current_stream())
        return
    if flat and address % 16 == 0 and nbytes % 16 == 0:
        pattern = np.frombuffer(bits * (16 // len(bits)), WORDS)[0]
        count = nbytes // 16
        launch(kernel("fill.cu", "fill_words"), blocks_for(count), THREADS, (tensor, pattern, np.int64(count)))
        return
    if len(bits) > 8:  # fill_elements takes 8 bytes at most: fill real and imaginary parts separately
        both = parts(tensor)
        for part, component in enumerate(np.frombuffer(bits, np.float64)):
            fill_with(make_view(both, tensor._shape, both.strides()[:-1], both._offset + part), np.array(component))
        return
    count = tensor.numel()
    number = np.uint64(int.from_bytes(bits, "little"))
    walk = operands(tensor._shape, tensor)
    arguments = tensor, np.int32(len(bits)), number, walk, np.int64(count)
    launch(kernel("fill.cu", "fill_elements"), blocks_for(count), THREADS, arguments)


WORDS = np.dtype([(name, np.uint32) for name in "xyzw"])  # uint4


@CUDA.impl("_local_scalar_dense")
def local_scalar_dense(keys: int, self: Tensor) -> Number:
    """The one element as a Python number. Waits for the device."""
    value = elements_on_host(self).item()
    return value if type(value) in NATIVE else float(value)  # ml_dtypes has scalar types of its own
