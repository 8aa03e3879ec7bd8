"""How do the simulated devices keep track of their memory?

Mirrors: cudaMalloc, cudaFree, cudaMemGetInfo, cudaHostAlloc
Differs: an address range is looked up before it is touched, so that a wrong one is refused and no process dies of it.
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

# One row for each piece of memory that a kernel may touch, by address: where it begins, where it ends, the address of
# the bytes that record what has been written (0 if not tracked), flags.
Table = np.ndarray[Any, np.dtype[np.uint64]]


class Regions:
    """Pieces of memory by address."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.memory: dict[int, GuardedMemory] = {}

    def add(self, memory: GuardedMemory) -> int:
        """Keep a piece; returns its address."""
        self.memory[memory.address] = memory
        insort(self.starts, memory.address)
        return memory.address

    def remove(self, address: int) -> GuardedMemory:
        """Give up a piece."""
        del self.starts[bisect_right(self.starts, address) - 1]
        return self.memory.pop(address)

    def find(self, address: int, nbytes: int = 1) -> GuardedMemory | None:
        """The piece that holds a range as a whole."""
        place = bisect_right(self.starts, address) - 1
        if place < 0:
            return None
        memory = self.memory[self.starts[place]]
        return memory if address + nbytes <= memory.address + memory.nbytes else None


class SimMemory:
    """The memory of all devices, and pinned memory of the host. The owner holds a lock around each call.

    `track` keeps one more byte for each byte of device memory that says whether it has been written.
    """

    def __init__(self, devices: int, total: int, track: bool) -> None:
        self.total = total
        self.track = track
        self.used = [0] * devices
        self.segments = Regions()
        self.device_of: dict[int, int] = {}  # by the address of a segment
        self.pinned = Regions()

    def allocate(self, nbytes: int, device: int) -> int:
        """The address of fresh memory of a device; AcceleratorError 2 where it, or this computer, has too little."""
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
        """Take back what `allocate` gave."""
        memory = self.segments.remove(address)
        self.used[self.device_of.pop(address)] -= -(-memory.nbytes // GRANULE) * GRANULE
        return memory

    def allocate_pinned(self, nbytes: int) -> int:
        """The address of pinned host memory."""
        return self.pinned.add(GuardedMemory(max(nbytes, 1)))

    def on_device(self, what: str, address: int, nbytes: int) -> GuardedMemory:
        """The segment that holds a range; AcceleratorError 1 where none does."""
        memory = self.segments.find(address, nbytes)
        if memory is None:
            raise cuda_error(
                Code.INVALID_VALUE,
                f"{what}: {nbytes} bytes at {address:#x} do not lie within one allocation of these devices",
            )
        return memory

    def table(self, pieces: Iterable[tuple[int, int]]) -> Table:
        """The table of pieces of device memory (address, bytes) and of all pinned memory."""
        rows = [(address, address + nbytes, self.written_bytes(address), 0) for address, nbytes in pieces]
        rows += [(memory.address, memory.address + memory.nbytes, 0, 0) for memory in self.pinned.memory.values()]
        return np.array(sorted(rows), np.uint64).reshape(-1, 4)

    def written_bytes(self, address: int) -> int:
        """The address of the byte that records whether the byte at a device address was written; 0 if not tracked."""
        memory = self.segments.find(address)
        return memory.written + (address - memory.address) if memory is not None and memory.written else 0

    def poison(self, address: int, nbytes: int) -> None:
        """Make device memory as good as fresh: NaN, and not written."""
        ctypes.memset(address, POISON, nbytes)
        if written := self.written_bytes(address):
            ctypes.memset(written, 0, nbytes)

    def fill(self, address: int, value: int, nbytes: int) -> None:
        """Set bytes of device memory."""
        ctypes.memset(address, value, nbytes)
        self.mark_written(address, nbytes)

    def mark_written(self, address: int, nbytes: int) -> None:
        """Say that bytes of device memory have been written."""
        if written := self.written_bytes(address):
            ctypes.memset(written, 1, nbytes)

    def assume_written(self) -> None:
        """Say that all device memory has been written."""
        for memory in self.segments.memory.values():
            self.mark_written(memory.address, memory.nbytes)

    def copy(self, target: int, source: int | bytes, nbytes: int) -> None:
        """Copy bytes; what was not written in the source is not in the target."""
        ctypes.memmove(target, source, nbytes)
        if not self.track:
            return
        from_written = self.written_bytes(source) if isinstance(source, int) else 0
        if (written := self.written_bytes(target)) and from_written:
            ctypes.memmove(written, from_written, nbytes)
        elif written:
            ctypes.memset(written, 1, nbytes)
