"""A driver with memory and events and nothing else, for tests of what stands above it.

What was queued on a stream is done when a test says so (`finish`), not sooner.
"""

from __future__ import annotations

from bisect import bisect_right

from glasstorch.core.errors import AcceleratorError
from glasstorch.devices.driver import Properties

FIRST = 1 << 20  # the address at which the memory of device 0 begins
APART = 1 << 40  # from one device's memory to the next one's


def failure(code: int, name: str) -> AcceleratorError:
    """An error as the drivers raise it."""
    return AcceleratorError(f"CUDA error: {name}", code, name)


class FakeDriver:
    """Devices that give addresses, and check what they are asked."""

    name = "fake"
    simulated = True

    def __init__(self, devices: int = 1, memory: int = 1 << 30) -> None:
        self.devices, self.memory = devices, memory
        self.device = 0
        self.held: list[dict[int, int]] = [{} for _ in range(devices)]  # what malloc gave: sizes by address
        self.tops = [FIRST + APART * device for device in range(devices)]
        self.blocks: dict[int, tuple[int, int]] = {}  # what the allocator told: bytes and stream by address
        self.recorded: dict[int, tuple[int, int]] = {}  # of an event: its stream, and its place there
        self.queued: dict[int, int] = {}  # how many events were ever recorded on a stream
        self.done: dict[int, int] = {}  # how many of them have passed
        self.events = 0
        self.broken = False  # after a failure that lasts
        self.log: list[str] = []

    def device_count(self) -> int:
        return self.devices

    def properties(self, device: int) -> Properties:
        return Properties("fake device", 9, 0, self.memory, 8)

    def current_device(self) -> int:
        return self.device

    def set_device(self, device: int) -> None:
        self.device = device

    def check(self) -> None:
        """Fail, if a failure that lasts has happened."""
        if self.broken:
            raise failure(700, "an illegal memory access was encountered")

    # Memory

    def malloc(self, nbytes: int) -> int:
        self.check()
        if nbytes > self.memory_info()[0]:
            raise failure(2, "out of memory")
        address = self.tops[self.device]
        self.tops[self.device] += nbytes + 4096
        self.held[self.device][address] = nbytes
        self.log.append(f"malloc {nbytes} on {self.device}")
        return address

    def free(self, address: int) -> None:
        self.check()
        self.log.append(f"free {self.held[self.device].pop(address)} on {self.device}")

    def memory_info(self) -> tuple[int, int]:
        return self.memory - sum(self.held[self.device].values()), self.memory

    def block_allocated(self, address: int, nbytes: int, stream: int) -> None:
        assert address not in self.blocks, f"{address:#x} was handed out twice"
        starts = sorted(address for held in self.held for address in held)
        start = starts[bisect_right(starts, address) - 1]
        size = next(held[start] for held in self.held if start in held)
        assert start <= address <= start + size - nbytes, f"{address:#x} is not memory that malloc gave"
        self.blocks[address] = nbytes, stream

    def block_freed(self, address: int) -> None:
        del self.blocks[address]

    # Events

    def finish(self, stream: int) -> None:
        """Let all that was queued on a stream be done."""
        self.done[stream] = self.queued.get(stream, 0)

    def event_create(self, timing: bool) -> int:
        self.check()
        assert not timing, "the allocator needs no times"
        self.events += 1
        return self.events

    def event_destroy(self, event: int) -> None:
        del self.recorded[event]

    def event_record(self, event: int, stream: int) -> None:
        self.check()
        self.queued[stream] = self.queued.get(stream, 0) + 1
        self.recorded[event] = stream, self.queued[stream]

    def event_query(self, event: int) -> bool:
        self.check()
        stream, place = self.recorded[event]
        return place <= self.done.get(stream, 0)

    def event_synchronize(self, event: int) -> None:
        self.check()
        stream, place = self.recorded[event]
        self.done[stream] = max(place, self.done.get(stream, 0))
