"""How do the simulated devices keep track of their memory?

Mirrors: cudaMalloc, cudaFree, cudaMemGetInfo, cudaHostAlloc
Differs: an address range is looked up before it is accessed, so that a wrong one is refused and does not crash the
    process.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right, insort
from collections.abc import Iterable
from typing import Any

import numpy as np

from glasstorch.devices.codes import Code, cuda_error
from glasstorch.devices.simulator.guarded_memory import POISON, GuardedMemory

GRANULE = 512  # bytes; an allocation takes a multiple of it from the device's memory

# One row for each region of memory that a kernel may access, sorted by address: its start, its end, the address of
# the flags that record which bytes have been written (0 if not tracked), its own flags.
Table = np.ndarray[Any, np.dtype[np.uint64]]


class Regions:
    """Regions of memory by address."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.memory: dict[int, GuardedMemory] = {}

    def add(self, memory: GuardedMemory) -> int:
        """Add a region; returns its address."""
        self.memory[memory.address] = memory
        insort(self.starts, memory.address)
        return memory.address

    def remove(self, address: int) -> GuardedMemory:
        """Remove a region."""
        del self.starts[bisect_right(self.starts, address) - 1]
        return self.memory.pop(address)

    def find(self, address: int, nbytes: int = 1) -> GuardedMemory | None:
        """The region that contains the whole range."""
        index = bisect_right(self.starts, address) - 1
        if index < 0:
            return None
        memory = self.memory[self.starts[index]]
        return memory if address + nbytes <= memory.address + memory.nbytes else None


class SimMemory:
    """The memory of all devices, and pinned memory of the host. The owner holds a lock during each call.

    With `track`, a flag for each byte of device memory records whether it has been written.
    """

    def __init__(self, devices: int, total: int, track: bool) -> None:
        self.total = total
        self.track = track
        self.used = [0] * devices
        self.segments = Regions()
        self.device_of: dict[int, int] = {}  # by the address of a segment
        self.pinned = Regions()

    def allocate(self, nbytes: int, device: int) -> int:
        """The address of new memory of a device; AcceleratorError 2 if the device, or this computer, has too little."""
        taken = -(-nbytes // GRANULE) * GRANULE
        free = self.total - self.used[device]
        if taken > free:
            raise cuda_error(
                Code.MEMORY_ALLOCATION, f"malloc of {nbytes} bytes on cuda:{device}: {free} of {self.total} are free"
            )
        try:
            memory = GuardedMemory(nbytes, self.track)
        except MemoryError as error:
            raise cuda_error(Code.MEMORY_ALLOCATION, f"malloc of {nbytes} bytes on cuda:{device}: {error}") from None
        address = self.segments.add(memory)
        self.device_of[address] = device
        self.used[device] += taken
        return address

    def release(self, address: int) -> GuardedMemory:
        """Free memory from `allocate`."""
        memory = self.segments.remove(address)
        self.used[self.device_of.pop(address)] -= -(-memory.nbytes // GRANULE) * GRANULE
        return memory

    def allocate_pinned(self, nbytes: int) -> int:
        """The address of pinned host memory."""
        return self.pinned.add(GuardedMemory(max(nbytes, 1)))

    def on_device(self, what: str, address: int, nbytes: int) -> GuardedMemory:
        """The segment that contains a range; AcceleratorError 1 if none does."""
        memory = self.segments.find(address, nbytes)
        if memory is None:
            raise cuda_error(
                Code.INVALID_VALUE,
                f"{what}: {nbytes} bytes at {address:#x} do not lie within one allocation of these devices",
            )
        return memory

    def table(self, pieces: Iterable[tuple[int, int]]) -> Table:
        """The table of the given blocks of device memory (address, bytes) and of all pinned memory."""
        rows = [(address, address + nbytes, self.written_bytes(address), 0) for address, nbytes in pieces]
        rows += [(memory.address, memory.address + memory.nbytes, 0, 0) for memory in self.pinned.memory.values()]
        return np.array(sorted(rows), np.uint64).reshape(-1, 4)

    def written_bytes(self, address: int) -> int:
        """The address of the flag that records whether the byte at a device address was written; 0 if not tracked."""
        memory = self.segments.find(address)
        return memory.written + (address - memory.address) if memory is not None and memory.written else 0

    def poison(self, address: int, nbytes: int) -> None:
        """Make device memory like new: filled with NaN, and marked as unwritten."""
        ctypes.memset(address, POISON, nbytes)
        if written := self.written_bytes(address):
            ctypes.memset(written, 0, nbytes)

    def fill(self, address: int, value: int, nbytes: int) -> None:
        """Set bytes of device memory."""
        ctypes.memset(address, value, nbytes)
        self.mark_written(address, nbytes)

    def mark_written(self, address: int, nbytes: int) -> None:
        """Mark bytes of device memory as written."""
        if written := self.written_bytes(address):
            ctypes.memset(written, 1, nbytes)

    def assume_written(self) -> None:
        """Mark all device memory as written."""
        for memory in self.segments.memory.values():
            self.mark_written(memory.address, memory.nbytes)

    def copy(self, target: int, source: int | bytes, nbytes: int) -> None:
        """Copy bytes; bytes that are unwritten in the source become unwritten in the target."""
        ctypes.memmove(target, source, nbytes)
        if not self.track:
            return
        from_written = self.written_bytes(source) if isinstance(source, int) else 0
        if (written := self.written_bytes(target)) and from_written:
            ctypes.memmove(written, from_written, nbytes)
        elif written:
            ctypes.memset(written, 1, nbytes)
