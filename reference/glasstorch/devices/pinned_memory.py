"""How is pinned memory, for asynchronous copies, allocated and reused?

Mirrors: aten/src/ATen/core/CachingHostAllocator.h, aten/src/ATen/cuda/CachingHostAllocator.cpp
Differs: sizes are rounded up to a power of two, as there, and at least to 512 bytes.

# Note [Pinned memory and streams]
A non-blocking copy reads or writes pinned memory after the call that started it has returned. The tensor may be gone by
then. So each such copy records an event for its block (`record`), and a freed block is reused only after its events
have completed.
"""

from __future__ import annotations

import bisect
import threading
from collections import deque

import numpy as np

from glasstorch.core.allocator import Buffer
from glasstorch.core.errors import AcceleratorError
from glasstorch.devices import runtime
from glasstorch.devices.driver import Driver

SMALLEST = 512  # bytes


class Pinned:
    """A block of pinned memory, and the events of copies that may still use it."""

    __slots__ = ("address", "allocator", "events", "size")

    def __init__(self, address: int, size: int, allocator: PinnedAllocator) -> None:
        self.address = address
        self.size = size
        self.allocator = allocator
        self.events: list[int] = []

    def lend(self, nbytes: int) -> Buffer:
        """The memory as an array; when the last array over it dies, the block is returned."""
        return np.asarray(_Loan(self, nbytes))


class _Loan:
    """Keeps a block in use; see Note [Who owns a block] in core/allocator.py."""

    __slots__ = ("__array_interface__", "piece")

    def __init__(self, piece: Pinned, nbytes: int) -> None:
        self.piece = piece
        self.__array_interface__ = {
            "data": (piece.address, False),
            "shape": (nbytes,),
            "typestr": "|u1",
            "version": 3,
        }

    def __del__(self) -> None:
        self.piece.allocator.returned.append(self.piece)


class PinnedAllocator:
    """The pinned memory of one driver. It caches freed blocks."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.lock = threading.RLock()
        self.free: dict[int, list[Pinned]] = {}  # by size
        self.starts: list[int] = []  # the addresses of all pieces, sorted
        self.pieces: dict[int, Pinned] = {}  # by address
        # A loan may die anywhere, also inside `allocate`: it is only queued here until the next call.
        self.returned: deque[Pinned] = deque()

    def allocate(self, nbytes: int) -> Buffer:
        """Uninitialised pinned memory; even 0 bytes have an address of their own."""
        size = max(SMALLEST, 1 << (nbytes - 1).bit_length())
        with self.lock:
            self._collect()
            kept = self.free.get(size)
            piece = kept.pop() if kept else self._new(size)
        return piece.lend(nbytes)

    def find(self, address: int) -> Pinned | None:
        """The block that contains an address."""
        with self.lock:
            index = bisect.bisect_right(self.starts, address) - 1
            if index < 0:
                return None
            piece = self.pieces[self.starts[index]]
        return piece if address < piece.address + piece.size else None

    def record(self, address: int, stream: int) -> None:
        """Declare that work queued on a stream of the current device uses the memory at an address.

        See Note [Pinned memory and streams].
        """
        piece = self.find(address)
        if piece is not None:
            event = self.driver.event_create(timing=False)
            self.driver.event_record(event, stream)
            piece.events.append(event)

    def _new(self, size: int) -> Pinned:
        piece = Pinned(self.driver.host_alloc(size), size, self)
        bisect.insort(self.starts, piece.address)
        self.pieces[piece.address] = piece
        return piece

    def _collect(self) -> None:
        """Put returned blocks into the free lists, once no copy uses them."""
        for _ in range(len(self.returned)):
            piece = self.returned.popleft()
            while piece.events and self._passed(piece.events[0]):
                self.driver.event_destroy(piece.events.pop(0))
            if piece.events:
                self.returned.append(piece)
            else:
                self.free.setdefault(piece.size, []).append(piece)

    def _passed(self, event: int) -> bool:
        try:
            return self.driver.event_query(event)
        except AcceleratorError:
            return True  # the device has failed: it copies nothing any more


_current: PinnedAllocator | None = None


def pinned_allocator() -> PinnedAllocator:
    """The allocator of the active driver."""
    global _current
    driver = runtime.driver()
    if _current is None or _current.driver is not driver:
        _current = PinnedAllocator(driver)
    return _current


def allocate(nbytes: int) -> Buffer:
    """Uninitialised pinned memory of the active driver; it is returned when the last array over it dies."""
    return pinned_allocator().allocate(nbytes)


def is_pinned(address: int) -> bool:
    """Whether an address lies in pinned memory of the active driver."""
    return runtime.is_initialized() and pinned_allocator().find(address) is not None
