"""How does the caching allocator reuse device memory without calling the driver?

The driver's malloc is slow, and its free waits for the device. So freed memory is kept, and serves the next request
that fits.

Mirrors: c10/cuda/CUDACachingAllocator.cpp (DeviceCachingAllocator, NativeCachingAllocator)
Differs: garbage collection of blocks by age, private pools of graphs, the history of allocations and its traces are
    left out. Events are created for each use and not pooled.

# Note [Memory of a stream]
The host frees a block while the device may still be using it. That is safe as long as only work on the same stream,
which runs later, reuses the block. A block therefore belongs to the stream for which it was allocated, and serves no
other. If another stream uses it, `record_stream` must be called: then, when the block is freed, an event is recorded
on that stream, and the block is not reused before the event has completed.

# Note [A free at any time]
A handle dies with its last reference. That may happen in the middle of `allocate`, when Python collects garbage, or in
another thread. So `give_back` only appends the block to a queue, and empties the queue if no other call is active in
the allocator. An active call empties it at its end, and checks once more after releasing the lock, so that a block
that arrives between the last check and the release is not left behind. A destructor cannot raise an error: if it finds
a list of blocks inconsistent, the next allocation reports that.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from glasstorch.core.errors import AcceleratorError, OutOfMemoryError
from glasstorch.devices import blocks, runtime
from glasstorch.devices.blocks import Block, Pool
from glasstorch.devices.codes import Code
from glasstorch.devices.driver import Driver
from glasstorch.devices.statistics import Statistics


class Allocation:
    """A handle to allocated device memory, which is freed when the handle dies. c10's DataPtr."""

    __slots__ = ("__weakref__", "address", "allocator", "block", "nbytes", "stream")

    def __init__(
        self, address: int, nbytes: int, stream: int, allocator: DeviceCachingAllocator, block: Block | None
    ) -> None:
        self.address = address  # 0 where nbytes is 0
        self.nbytes = nbytes
        self.stream = stream
        self.allocator = allocator
        self.block = block  # None: not from the cache

    @property
    def device(self) -> int:
        """The index of the device."""
        return self.allocator.device

    def record_stream(self, stream: int) -> None:
        """Declare that another stream uses the memory, so that it is not reused before that stream's work is done."""
        if self.block is not None and stream != self.block.stream:
            self.block.streams.add(stream)

    def __del__(self) -> None:
        if self.address:
            self.allocator.give_back(self)


class Work:
    """A critical section in which the lists of blocks may change; blocks returned meanwhile are freed at its end."""

    __slots__ = ("allocator",)

    def __init__(self, allocator: DeviceCachingAllocator) -> None:
        self.allocator = allocator

    def __enter__(self) -> None:
        assert not self.allocator.at_work, "the allocator was called by a destructor in the middle of a call"
        self.allocator.at_work = True
        try:
            self.allocator._take_back()
        except BaseException:
            self.allocator.at_work = False
            raise

    def __exit__(self, *_: object) -> None:
        try:
            self.allocator._take_back()
        finally:
            self.allocator.at_work = False


class DeviceCachingAllocator:
    """The memory of one device; see Note [Memory of a stream]."""

    def __init__(self, driver: Driver, device: int) -> None:
        self.driver = driver
        self.device = device
        self.small = Pool("small_pool")
        self.large = Pool("large_pool")
        self.active: dict[int, Block] = {}  # by address: those in use or waiting
        self.waiting: dict[int, deque[tuple[int, Block]]] = {}  # by stream: events in their order, and their blocks
        self.statistics = Statistics()
        self.fraction = 1.0  # of the device's memory, that may be reserved
        self.limit: int | None = None  # ... in bytes, once it is set
        self.caching = not os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING")
        self.lock = threading.RLock()  # reentrant, so that a free in the middle of an allocation finds out where it is
        self.at_work = False  # whether the thread that has the lock is in the middle of a change
        self.work = Work(self)
        self.returned: deque[Block] = deque()  # see Note [A free at any time]
        self.broken: Exception | None = None  # the error that occurred when a block was freed

    # Allocation ------------------------------------------------------------------------------------------------

    def allocate(self, nbytes: int, stream: int) -> Allocation:
        """Uninitialised memory for work on a stream; OutOfMemoryError if there is not enough."""
        if self.broken is not None:
            raise AssertionError("memory that was freed could not be taken back") from self.broken
        if nbytes == 0:
            return Allocation(0, 0, stream, self, None)
        with self.lock:
            if self.at_work or not self.caching:
                return self._allocate_uncached(nbytes, stream)
            with self.work:
                block = self._take(nbytes, stream)
                self.driver.block_allocated(block.address, nbytes, stream)
        if self.returned:
            self._drain()
        return Allocation(block.address, nbytes, stream, self, block)

    def give_back(self, allocation: Allocation) -> None:
        """Called once for each handle, when it dies. Never raises."""
        if allocation.block is None:
            self._free_uncached(allocation.address)
            return
        self.returned.append(allocation.block)
        try:
            self._drain()
        except Exception as error:  # noqa: BLE001 (a destructor cannot raise)
            self.broken = error

    def _take(self, nbytes: int, stream: int) -> Block:
        """A block for a request: a free one, else a new segment, for which the cache is emptied if necessary."""
        self._process_events()
        size = blocks.round_size(nbytes)
        pool = self.small if size <= blocks.SMALL_SIZE else self.large
        block = blocks.best_fit(pool.free, size, stream)
        if block is not None:
            pool.remove(block)
        else:
            block = self._new_segment(blocks.segment_size(size), stream, pool)
        if block is None:
            self._release_cached()
            self.statistics.num_alloc_retries += 1
            block = self._new_segment(blocks.segment_size(size), stream, pool)
        if block is None:
            self.statistics.num_ooms += 1
            raise OutOfMemoryError(self._out_of_memory(blocks.segment_size(size)))
        return self._occupy(block, size, nbytes)

    def _occupy(self, block: Block, size: int, nbytes: int) -> Block:
        """Mark a free block, already removed from its list, as in use, and split off the excess."""
        count, pool = self.statistics.change, block.pool
        was_part = block.is_split()
        if blocks.should_split(block, size):
            rest = blocks.split(block, size)
            pool.insert(rest)
            if was_part:  # the free part only got smaller
                count("inactive_split_bytes", pool.name, -block.size)
            else:
                count("inactive_split_bytes", pool.name, rest.size)
                count("inactive_split", pool.name, 1)
        elif was_part:
            count("inactive_split_bytes", pool.name, -block.size)
            count("inactive_split", pool.name, -1)
        block.allocated, block.requested = True, nbytes
        self.active[block.address] = block
        count("allocation", pool.name, 1)
        count("allocated_bytes", pool.name, block.size)
        count("active", pool.name, 1)
        count("active_bytes", pool.name, block.size)
        count("requested_bytes", pool.name, nbytes)
        return block

    # Freeing ------------------------------------------------------------------------------------------------

    def _free(self, block: Block) -> None:
        """Free a block without owners, or defer that until the streams that use it are done."""
        block.allocated = False
        self.statistics.change("allocation", block.pool.name, -1)
        self.statistics.change("allocated_bytes", block.pool.name, -block.size)
        if block.streams:
            self._wait_for_streams(block)
        if block.events == 0:
            self._free_block(block)

    def _wait_for_streams(self, block: Block) -> None:
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

    def _free_block(self, block: Block) -> None:
        """Put an unused block into its pool, merged with adjacent free blocks."""
        self.driver.block_freed(block.address)
        del self.active[block.address]
        count, pool, size = self.statistics.change, block.pool, block.size
        won = [blocks.merge(block, neighbour) for neighbour in (block.previous, block.next)]
        pool.insert(block)
        part = block.is_split()
        count("inactive_split", pool.name, part - sum(map(bool, won)))
        count("inactive_split_bytes", pool.name, part * block.size - sum(won))
        count("active", pool.name, -1)
        count("active_bytes", pool.name, -size)
        count("requested_bytes", pool.name, -block.requested)

    def _process_events(self) -> None:
        """Free the blocks whose events have completed."""
        for stream, events in list(self.waiting.items()):
            while events and self.driver.event_query(events[0][0]):
                self._event_passed(*events.popleft())
            if not events:
                del self.waiting[stream]

    def _event_passed(self, event: int, block: Block) -> None:
        self.driver.event_destroy(event)
        block.events -= 1
        if block.events == 0:
            self._free_block(block)

    def _synchronize_events(self) -> None:
        """Wait for all events, and free their blocks."""
        self.statistics.num_sync_all_streams += 1
        for events in self.waiting.values():
            while events:
                self.driver.event_synchronize(events[0][0])
                self._event_passed(*events.popleft())
        self.waiting.clear()

    def _drain(self) -> None:
        """Free the blocks that were returned; if a critical section is active, it does that at its end."""
        while self.returned and self.lock.acquire(blocking=False):
            try:
                if self.at_work:
                    return
                with self.work:
                    pass
            finally:
                self.lock.release()

    def _take_back(self) -> None:
        while self.returned:
            self._free(self.returned.popleft())

    # Segments ---------------------------------------------------------------------------------------------------

    def _new_segment(self, size: int, stream: int, pool: Pool) -> Block | None:
        """A new segment as one block; None if the driver or the limit refuses it."""
        if self.limit is not None and self.statistics.current("reserved_bytes") + size > self.limit:
            return None
        with self._on_device():
            try:
                address = self.driver.malloc(size)
            except AcceleratorError as error:
                if error.code != Code.MEMORY_ALLOCATION:
                    raise
                return None
        self.statistics.num_device_alloc += 1
        self.statistics.change("segment", pool.name, 1)
        self.statistics.change("reserved_bytes", pool.name, size)
        return Block(address, size, stream, pool)

    def _release_cached(self) -> None:
        """Return every segment to the driver of which no part is in use."""
        self._synchronize_events()
        with self._on_device():
            for pool in (self.large, self.small):
                for block in [block for block in pool.free if not block.is_split()]:
                    self.driver.free(block.address)
                    pool.remove(block)
                    self.statistics.num_device_free += 1
                    self.statistics.change("segment", pool.name, -1)
                    self.statistics.change("reserved_bytes", pool.name, -block.size)

    def empty_cache(self) -> None:
        """Return all segments to the driver of which no part is in use."""
        with self.lock, self.work:
            self._release_cached()
        self._drain()

    def set_fraction(self, fraction: float) -> None:
        """Reserve at most a fraction of the device's memory from now on."""
        self.limit = int(fraction * self.memory_info()[1])
        self.fraction = fraction

    def _allocate_uncached(self, nbytes: int, stream: int) -> Allocation:
        """Memory from the driver, because caching is switched off or a destructor allocates during an allocation."""
        with self._on_device():
            try:
                address = self.driver.malloc(nbytes)
            except AcceleratorError as error:
                if error.code != Code.MEMORY_ALLOCATION:
                    raise
                raise OutOfMemoryError(self._out_of_memory(nbytes)) from None
        self.driver.block_allocated(address, nbytes, stream)
        return Allocation(address, nbytes, stream, self, None)

    def _free_uncached(self, address: int) -> None:
        self.driver.block_freed(address)
        with self._on_device():
            try:
                self.driver.free(address)
            except AcceleratorError:
                return  # the device has failed before, and its memory is gone with it

    @contextmanager
    def _on_device(self) -> Iterator[None]:
        """Make the device current for calls of the driver."""
        before = self.driver.current_device()
        if before == self.device:
            yield
            return
        self.driver.set_device(self.device)
        try:
            yield
        finally:
            self.driver.set_device(before)

    # Reporting -----------------------------------------------------------------------------------------------------

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes of the device, according to the driver."""
        with self._on_device():
            return self.driver.memory_info()

    def counts(self) -> dict[str, object]:
        """All counts, nested as torch.cuda.memory_stats_as_nested_dict has them."""
        with self.lock:
            return self.statistics.nested()

    def segments(self) -> list[list[Block]]:
        """The blocks of each segment, both by address."""
        with self.lock, self.work:
            known = [*self.active.values(), *self.small.free, *self.large.free]
            firsts = sorted((block for block in known if block.previous is None), key=lambda block: block.address)
            found = [list(first.segment()) for first in firsts]
        self._drain()
        return found

    def _out_of_memory(self, nbytes: int) -> str:
        """The error, in c10's words."""
        free, total = self.memory_info()
        held = self.statistics.current("allocated_bytes")
        cached = self.statistics.current("reserved_bytes") - held
        limit = "" if self.limit is None else f"{format_size(self.limit)} allowed; "
        return (
            f"CUDA out of memory. Tried to allocate {format_size(nbytes)}. GPU {self.device} has a total capacity of "
            f"{format_size(total)} of which {format_size(free)} is free. {limit}Of the allocated memory "
            f"{format_size(held)} is allocated by glasstorch, and {format_size(cached)} is reserved by glasstorch "
            "but unallocated. glasstorch.cuda.memory_summary() says more."
        )


class CachingAllocator:
    """The memory of all devices of a driver."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.devices = [DeviceCachingAllocator(driver, index) for index in range(driver.device_count())]

    def allocate(self, nbytes: int, device_index: int, stream: int) -> Allocation:
        """Uninitialised memory of a device for work on a stream, aligned to at least 256 bytes."""
        return self.devices[device_index].allocate(nbytes, stream)

    def retire(self) -> None:
        """Return unused memory to the driver; a device that has failed refuses that, which is ignored."""
        for device in self.devices:
            with suppress(AcceleratorError):
                device.empty_cache()


_current: CachingAllocator | None = None
_current_lock = threading.RLock()


def caching_allocator() -> CachingAllocator:
    """The allocator of the active driver; it starts empty when another driver becomes active."""
    global _current
    driver = runtime.driver()
    found = _current
    if found is not None and found.driver is driver:
        return found
    with _current_lock:
        if _current is None or _current.driver is not driver:
            if _current is not None:
                _current.retire()
            _current = CachingAllocator(driver)
        return _current


def allocate(nbytes: int, device_index: int, stream: int) -> Allocation:
    """Uninitialised memory of a device for work on a stream; it is freed when the handle dies."""
    return caching_allocator().allocate(nbytes, device_index, stream)


def format_size(nbytes: int) -> str:
    """A number of bytes as c10's messages print it.

    >>> format_size(512), format_size(1 << 20), format_size(20 << 30)
    ('512 bytes', '1024.00 KiB', '20.00 GiB')
    """
    for unit, power in (("bytes", 0), ("KiB", 10), ("MiB", 20)):
        if nbytes <= 1 << (power + 10):
            return f"{nbytes} bytes" if power == 0 else f"{nbytes / (1 << power):.2f} {unit}"
    return f"{nbytes / (1 << 30):.2f} GiB"
