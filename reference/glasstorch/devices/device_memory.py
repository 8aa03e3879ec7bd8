"""How do the core's storages use CUDA memory?

Mirrors: c10/core/Allocator.h, as c10/cuda/CUDACachingAllocator.cpp and aten/src/ATen/cuda/CachingHostAllocator.cpp
    fill it in
Differs: this file implements a Protocol of core/hooks.py, so that storages and printing need no operator.
"""

from __future__ import annotations

from typing import Any

from glasstorch.core import hooks
from glasstorch.core.allocator import Buffer
from glasstorch.core.device import device
from glasstorch.devices import allocator, kernel_room, pinned_memory, runtime
from glasstorch.devices.allocator import Allocation
from glasstorch.devices.transfer import transfer


class _Memory:
    """Fills hooks.MemoryHooks."""

    def allocate(self, nbytes: int, on: device) -> Allocation:
        assert on.index is not None
        return allocator.allocate(nbytes, on.index, runtime.current_stream(on.index))

    def copy_bytes(self, target: hooks.Bytes, source: hooks.Bytes, nbytes: int) -> None:
        transfer(target.address(), target.device, source.address(), source.device, nbytes)

    def host_array(self, tensor: Any) -> Any:
        return kernel_room.kernel_room.elements_on_host(tensor)

    def pinned(self, nbytes: int) -> Buffer:
        return pinned_memory.allocate(nbytes)

    def is_pinned(self, address: int) -> bool:
        return pinned_memory.is_pinned(address)

    def let_wait(self, on: device, stream: int) -> None:
        assert on.index is not None
        current = runtime.current_stream(on.index)
        if current == stream:
            return
        driver = runtime.driver()
        event = driver.event_create(timing=False)
        driver.event_record(event, current)
        driver.stream_wait_event(stream, event)
        driver.event_destroy(event)

    def current_stream(self, on: device) -> int:
        assert on.index is not None
        return runtime.current_stream(on.index)


hooks.set_memory_hooks(_Memory())
