"""Does a snapshot tell every segment and every block, in torch's words?"""

from __future__ import annotations

from typing import Any

from glasstorch.devices.allocator import CachingAllocator
from glasstorch.devices.blocks import MIB
from glasstorch.devices.snapshot import snapshot
from tests.devices.fake_driver import FakeDriver

SIDE = 4  # a stream beside the default one


def test_blocks_are_told_with_their_state_and_segments_with_their_sums() -> None:
    driver: Any = FakeDriver()
    allocator = CachingAllocator(driver)
    held = [allocator.allocate(size, 0, SIDE) for size in (1000, 600, 100)]
    held[0].record_stream(0)
    address = held[0].address
    del held[:2]
    rest = 2 * MIB - 1024 - 1024 - 512
    assert snapshot(allocator) == [
        {
            "device": 0,
            "address": address,
            "total_size": 2 * MIB,
            "allocated_size": 512,
            "active_size": 1536,
            "requested_size": 1100,
            "stream": SIDE,
            "segment_type": "small",
            "segment_pool_id": (0, 0),
            "is_expandable": False,
            "frames": [],
            "blocks": [
                block(address, 1024, 1000, "active_pending_free"),
                block(address + 1024, 1024, 0, "inactive"),
                block(address + 2048, 512, 100, "active_allocated"),
                block(address + 2560, rest, 0, "inactive"),
            ],
        }
    ]


def block(address: int, size: int, requested: int, state: str) -> dict[str, object]:
    """A block as a snapshot tells it."""
    return {"address": address, "size": size, "requested_size": requested, "state": state, "frames": []}


def test_the_segments_of_all_devices_are_told_by_address() -> None:
    driver: Any = FakeDriver(devices=2)
    allocator = CachingAllocator(driver)
    held = [allocator.allocate(size, device, 0) for size, device in ((512, 1), (3 * MIB, 0), (512, 0), (3 * MIB, 1))]
    held.pop()
    found = snapshot(allocator)
    assert [(segment["device"], segment["segment_type"], segment["total_size"]) for segment in found] == [
        (0, "large", 20 * MIB),
        (0, "small", 2 * MIB),
        (1, "small", 2 * MIB),
        (1, "large", 20 * MIB),
    ]
    assert [len(segment["blocks"]) for segment in found] == [2, 2, 2, 1]
    assert held
