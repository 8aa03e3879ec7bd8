"""When is a tensor's memory taken, and when is it given back?

Mirrors: c10/core/CPUAllocator.cpp (reportMemoryUsageToProfiler), c10/core/Allocator.h (MemoryReportingInfoBase),
    torch/csrc/profiler/collection.cpp (the allocation events)
Differs: PyTorch's allocators report each block. Most results here are arrays that NumPy made; so the memory of each
    result that no argument shares is counted when its operator ends, and its end is seen by a weak reference. What a
    kernel takes and gives back inside a call is not seen.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from threading import get_ident
from time import perf_counter_ns as clock
from typing import Any, NamedTuple

import numpy as np

from glasstorch.core.allocator import Block
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.operator import tensors_of
from glasstorch.dispatch.record import thread_number
from glasstorch.profiler.kinds import DeviceType


class MemoryEvent(NamedTuple):
    """Bytes that were taken, or given back if negative."""

    time: int
    nbytes: int
    device: DeviceType
    device_index: int
    address: int
    thread: int
    allocated: int  # bytes in use on the device after it, of those seen


class MemoryWatch:
    """The blocks of memory that operators' arguments and results have shown, and what became of them."""

    def __init__(self) -> None:
        self.events: list[MemoryEvent] = []
        self.watching = True
        self.allocated: dict[tuple[DeviceType, int], int] = {}
        self._known: dict[int, weakref.ref[Any]] = {}  # id of the owner of a block -> its weak reference

    def results(self, arguments: Sequence[Any], result: Any) -> None:
        """Notice the memory of a call's result: taken by the call, unless it is known or an argument's."""
        for tensor in tensors_of(arguments):
            self._notice(tensor, fresh=False)
        for tensor in tensors_of(result if isinstance(result, list | tuple) else (result,)):
            self._notice(tensor, fresh=True)

    def _notice(self, tensor: TensorImpl, fresh: bool) -> None:
        owner, nbytes, address = owner_of(tensor)
        if owner is None or id(owner) in self._known:
            return
        device = DeviceType.CUDA if tensor.is_cuda else DeviceType.CPU
        index = (tensor.device.index or 0) if tensor.is_cuda else -1
        self._known[id(owner)] = weakref.ref(owner, self._given_back(id(owner), nbytes, device, index, address))
        if fresh:
            self._add(nbytes, device, index, address)

    def _given_back(self, key: int, nbytes: int, device: DeviceType, index: int, address: int) -> Callable[[Any], None]:
        def gone(reference: Any) -> None:
            self._known.pop(key, None)
            if self.watching:
                self._add(-nbytes, device, index, address)

        return gone

    def _add(self, nbytes: int, device: DeviceType, index: int, address: int) -> None:
        total = self.allocated[device, index] = max(0, self.allocated.get((device, index), 0) + nbytes)
        self.events.append(MemoryEvent(clock(), nbytes, device, index, address, thread_number(get_ident()), total))


def owner_of(tensor: TensorImpl) -> tuple[Any, int, int]:
    """The object that lives as long as a tensor's memory, the bytes and their address; None where there are none."""
    storage = tensor._storage
    if storage is not None and storage.memory is None:
        # On a device the storage stands for its block, which has no weak references.
        return (None, 0, 0) if storage.block is None else (storage, storage.nbytes(), storage.block.address)
    array = tensor._array if storage is None else storage.memory
    if array is None:
        return None, 0, 0
    while isinstance(array.base, np.ndarray) and not isinstance(array, Block):
        array = array.base
    return array, array.nbytes, array.ctypes.data
