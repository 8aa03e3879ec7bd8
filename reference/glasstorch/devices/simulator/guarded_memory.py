"""How is the simulator's memory allocated so that out-of-bounds accesses are detected?

Mirrors: nothing in PyTorch; cudaMalloc's promise of addresses that are multiples of 256
Differs: on both sides of each allocation lies a gibibyte of inaccessible addresses, so that a wrong index reaches
    neither another allocation nor Python's memory; new memory is filled with NaN.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from functools import cache
from typing import Final

from glasstorch.core.errors import DeviceError

ALIGNMENT: Final = 256
POISON: Final = 0xFF  # a floating-point number of these bytes is NaN, in every width
GUARD: Final = 1 << 30  # bytes of addresses on each side; they take no memory
NO_ACCESS: Final = 0  # PROT_NONE, which the module mmap does not name
READ_WRITE: Final = 3  # PROT_READ | PROT_WRITE
FAILED: Final = ctypes.c_void_p(-1).value


@cache
def _system() -> ctypes.CDLL:
    """The C library, for the calls that Python's mmap lacks. DeviceError if the system has no such library."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        map_, protect, unmap = library.mmap, library.mprotect, library.munmap
    except (TypeError, AttributeError, OSError) as error:
        raise DeviceError("the simulated device needs mmap and mprotect: Linux, macOS or WSL on Windows") from error
    map_.restype = ctypes.c_void_p
    map_.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    unmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return library


def mapped(nbytes: int, access: int = READ_WRITE) -> int:
    """The address of at least `nbytes` fresh zero bytes, a multiple of the page size."""
    address = _system().mmap(None, nbytes, access, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if address in (None, FAILED):
        raise MemoryError(f"the simulated device needs {nbytes} bytes of this computer's memory and cannot have them")
    return int(address)


class GuardedMemory:
    """`nbytes` of memory at `address`, a multiple of 256, ending less than 256 bytes before inaccessible addresses.

    `written` is the address of a flag for each of these bytes, which is 1 once it has been written; 0 without flags.
    """

    __slots__ = ("__weakref__", "address", "written", "nbytes")

    def __init__(self, nbytes: int, track: bool = False) -> None:
        body = max(1, -(-nbytes // mmap.PAGESIZE)) * mmap.PAGESIZE
        length = GUARD + body + GUARD
        base = mapped(length, NO_ACCESS)
        if _system().mprotect(base + GUARD, body, READ_WRITE):
            _system().munmap(base, length)
            raise MemoryError(f"this computer has no {nbytes} bytes for the simulated device")
        self.nbytes = nbytes
        self.address = base + GUARD + body - -(-nbytes // ALIGNMENT) * ALIGNMENT
        ctypes.memset(self.address, POISON, nbytes)
        self.written = mapped(nbytes) if track and nbytes else 0
        weakref.finalize(self, _unmap, base, length, self.written, nbytes).atexit = False


def _unmap(base: int, length: int, written: int, nbytes: int) -> None:
    _system().munmap(base, length)
    if written:
        _system().munmap(written, nbytes)
