"""Where does memory come from, and when may it be reused?

Mirrors: c10/core/Allocator.h (Allocator, DataPtr), c10/core/CachingDeviceAllocator.h, c10/core/CPUAllocator.h
Differs: PyTorch's CPU allocator does not cache. Here large blocks are kept for the next tensor of about that size,
    because a fresh large block costs one page fault for every 4 KiB when it is first written.

# Note [Who owns a block]
A block's memory is handed out as a NumPy array whose base is the Block. Every array made from that array (a tensor's
view, what `t.numpy()` returned, a slice of that) keeps its base alive, so the Block dies exactly when the last of
them does. Only then, in `Block.__del__`, does the memory return to the pool. A tensor that dies early therefore never
has its memory overwritten under a reader's array.
"""

from __future__ import annotations

import math
import threading
from operator import index
from typing import Any, Protocol

import numpy as np

from glasstorch.core.errors import ArgumentTypeError, HostMemoryError, StorageError
from glasstorch.core.forks import free_after_forks

Buffer = np.ndarray[Any, np.dtype[np.uint8]]  # one-dimensional, bytes

BYTE = np.dtype(np.uint8)
LARGE = 1 << 18  # bytes from which a block is worth keeping (the C library takes fresh pages for larger ones)
ROUND_TO = 1 << 16  # large blocks are rounded up to a multiple of this, so that close sizes can share
MAX_CACHED = 1 << 29  # bytes that may lie unused in the pool
MOST = 2**63 - 1  # bytes that a tensor may have: what an int64 counts
MOST_DIMENSIONS = 64  # of a NumPy array
ALIGNMENT = 64  # of large blocks, in bytes: a vector register's width, so that no load crosses a cache line


class Allocator(Protocol):
    """Allocates memory, zero or more bytes at a time."""

    def allocate(self, nbytes: int) -> Buffer:
        """Uninitialised bytes; they are the caller's until the last array over them dies."""


class Memory(np.ndarray[Any, np.dtype[np.uint8]]):
    """Bytes that belong to a pool.

    A type of its own: NumPy takes as an array's base the first owner that it finds, and looks past views that have the
    array's own type. It must not look past the Block.
    """

    __slots__ = ()


class Block(np.ndarray[Any, np.dtype[np.uint8]]):
    """One piece of memory on loan from a pool: its base. See Note [Who owns a block].

    What NumPy makes of a Block (a slice of it, a sum) is of its type and no loan: it has no `pool`.
    """

    __slots__ = ("pool",)
    pool: CachingCPUAllocator

    def __del__(self) -> None:
        pool = getattr(self, "pool", None)
        if pool is not None:
            pool.give_back(self.base)


class CachingCPUAllocator:
    """Keeps large blocks that were returned, for the next request of the same rounded size.

    `bytes_in_use` and `bytes_cached` count large blocks only.
    """

    def __init__(self, keep: int = MAX_CACHED) -> None:
        self.keep = keep
        self.bytes_in_use = 0
        self.bytes_cached = 0
        self.free: dict[int, list[Memory]] = {}
        self.lock = threading.RLock()  # reentrant: garbage collection inside `allocate` may run Block.__del__

    def allocate(self, nbytes: int) -> Buffer:
        if nbytes < LARGE:
            return np.empty(nbytes, np.uint8)
        rounded = -(-nbytes // ROUND_TO) * ROUND_TO
        with self.lock:
            memory = self._take(rounded)
            self.bytes_in_use += rounded
        if memory is None:
            try:
                memory = aligned_empty(rounded)
            except (MemoryError, ValueError):  # NumPy raises ValueError for sizes that no address space holds
                with self.lock:
                    self.bytes_in_use -= rounded
                self.empty_cache()
                return self._last_try(nbytes)
        block = Block((nbytes,), BYTE, memory)
        block.pool = self
        return np.ndarray((nbytes,), BYTE, block)

    def give_back(self, memory: Memory) -> None:
        """Return a block's memory to the pool.

        Where the pool would grow beyond its limit, memory of the size that was returned least recently is freed.
        """
        size = memory.nbytes
        with self.lock:
            self.bytes_in_use -= size
            if size > self.keep:
                return
            while self.bytes_cached + size > self.keep:
                self._take(next(iter(self.free)))
            self.free[size] = [*self.free.pop(size, ()), memory]  # the size used most recently is last
            self.bytes_cached += size

    def _take(self, size: int) -> Memory | None:
        """Memory of exactly that size from the pool, if there is some. Called with the lock held."""
        kept = self.free.get(size)
        if kept is None:
            return None
        memory = kept.pop()
        if not kept:
            del self.free[size]
        self.bytes_cached -= size
        return memory

    def empty_cache(self) -> None:
        """Return all unused memory to the system."""
        with self.lock:
            self.free.clear()
            self.bytes_cached = 0

    def _last_try(self, nbytes: int) -> Buffer:
        try:
            return np.empty(nbytes, np.uint8)
        except (MemoryError, ValueError) as error:
            raise HostMemoryError(
                f"DefaultCPUAllocator: can't allocate memory: you tried to allocate {nbytes} bytes "
                f"({self.bytes_in_use} bytes are in use by blocks of {LARGE} bytes or more)"
            ) from error


def aligned_empty(nbytes: int) -> Memory:
    """Fresh bytes whose address is a multiple of ALIGNMENT; NumPy by itself promises 16."""
    raw = np.empty(nbytes + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + nbytes].view(Memory)


cpu_allocator = CachingCPUAllocator()
free_after_forks(cpu_allocator.lock)


def empty_array(shape: tuple[int, ...], numpy_dtype: np.dtype[Any], nbytes: int) -> np.ndarray[Any, Any]:
    """An uninitialised row-major array from the CPU allocator; `nbytes` is its size, which the caller knows.

    StorageError for sizes whose number of bytes overflows an int64, where a size of 0 counts as 1.
    """
    try:
        if nbytes < LARGE:
            return np.empty(shape, numpy_dtype)
        return np.ndarray(shape, numpy_dtype, cpu_allocator.allocate(nbytes))
    except (ValueError, HostMemoryError):
        check_dimensions(shape)
        check_countable(shape, numpy_dtype.itemsize)
        raise


def check_dimensions(shape: tuple[int, ...]) -> None:
    """StorageError for more dimensions than NumPy has."""
    if len(shape) > MOST_DIMENSIONS:
        raise StorageError(
            f"a tensor of {len(shape)} dimensions has no elements that can be read here: NumPy's arrays, which hold "
            f"them, have at most {MOST_DIMENSIONS} (PyTorch has no such limit)"
        )


def check_countable(shape: tuple[int, ...], itemsize: int) -> None:
    """StorageError for sizes whose number of bytes overflows an int64, where a size of 0 counts as 1, as in PyTorch.

    ArgumentTypeError for a size that itself overflows an int64.
    """
    for position, size in enumerate(shape):
        if index(size) > MOST:  # which refuses a ragged size
            raise ArgumentTypeError(
                f"argument 'size' failed to unpack the object at pos {position + 1} with error \"Overflow when "
                f'unpacking long long"; {size} is above {MOST}'
            )
    if math.prod(size for size in shape if size) * itemsize > MOST:
        raise StorageError(f"Storage size calculation overflowed with sizes={list(shape)}")
