"""Which segments and blocks does the memory of the devices consist of?

Mirrors: c10/cuda/CUDACachingAllocator.cpp (DeviceCachingAllocator::snapshot), torch/csrc/cuda/Module.cpp
    (THCPModule_memorySnapshot)
Differs: no history is kept, so `frames` are always empty, as in PyTorch before `_record_memory_history`.
"""

from __future__ import annotations

from typing import TypedDict

from glasstorch.devices.allocator import CachingAllocator, DeviceCachingAllocator
from glasstorch.devices.blocks import Block


class BlockInfo(TypedDict):
    """A block of a segment; sizes and addresses are in bytes."""

    address: int
    size: int
    requested_size: int
    state: str  # "active_allocated", "active_pending_free" (it waits for streams) or "inactive"
    frames: list[object]


class SegmentInfo(TypedDict):
    """A segment and its blocks, by address."""

    device: int
    address: int
    total_size: int
    allocated_size: int
    active_size: int
    requested_size: int
    stream: int
    segment_type: str  # "small" or "large"
    segment_pool_id: tuple[int, int]
    is_expandable: bool
    frames: list[object]
    blocks: list[BlockInfo]


def snapshot(allocator: CachingAllocator) -> list[SegmentInfo]:
    """The segments of all devices, each device's by address."""
    return [segment for device in allocator.devices for segment in device_snapshot(device)]


def device_snapshot(allocator: DeviceCachingAllocator) -> list[SegmentInfo]:
    """The segments of one device, by address."""
    return [segment_info(allocator.device, blocks) for blocks in allocator.segments()]


def segment_info(device: int, blocks: list[Block]) -> SegmentInfo:
    """The description of a segment, from its blocks."""
    first = blocks[0]
    return SegmentInfo(
        device=device,
        address=first.address,
        total_size=sum(block.size for block in blocks),
        allocated_size=sum(block.size for block in blocks if block.allocated),
        active_size=sum(block.size for block in blocks if not block.is_free()),
        requested_size=sum(block.requested for block in blocks if not block.is_free()),
        stream=first.stream,
        segment_type="small" if first.pool.is_small else "large",
        segment_pool_id=(0, 0),
        is_expandable=False,
        frames=[],
        blocks=[
            BlockInfo(
                address=block.address,
                size=block.size,
                requested_size=0 if block.is_free() else block.requested,
                state=state(block),
                frames=[],
            )
            for block in blocks
        ],
    )


def state(block: Block) -> str:
    """The state of a block, in torch's words."""
    if block.allocated:
        return "active_allocated"
    return "inactive" if block.is_free() else "active_pending_free"
