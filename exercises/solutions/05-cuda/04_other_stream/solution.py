"""Records each event on the stream that uses the block, so that it passes when that stream has reached it."""

from __future__ import annotations

from collections import deque

from glasstorch.core.errors import AcceleratorError
from glasstorch.devices.allocator import DeviceCachingAllocator
from glasstorch.devices.blocks import Block

FILE = "devices/allocator.py"
LINE = 203


def mended(self: DeviceCachingAllocator, block: Block) -> None:
    """Record an event on each stream that `record_stream` named for the block."""
    with self._on_device():
        for stream in block.streams:
            try:
                event = self.driver.event_create(timing=False)
                self.driver.event_record(event, stream)
            except AcceleratorError:
                continue  # the device has failed before: nothing runs on it any more that could use the block
            self.waiting.setdefault(stream, deque()).append((event, block))
            block.events += 1
    block.streams.clear()
