"""What can a program set about saving and loading?

Mirrors: torch/utils/serialization/config.py, torch/serialization.py (LoadEndianness, the get_ and set_ functions,
    skip_data)
Differs: two objects in place of a configuration module: it has no `patch`, and reads no environment variables.
    `save.use_pinned_memory_for_d2h` and `load.calculate_storage_offsets` are accepted and change nothing: copies from
    a device take the one way there is, and offsets are always those that stand in the file.
"""

from __future__ import annotations

import mmap
import threading
from enum import Enum
from types import TracebackType
from typing import Self

from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError


class LoadEndianness(Enum):
    """The byte order of a file that does not state its own."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Load:
    __slots__ = ("calculate_storage_offsets", "endianness", "mmap", "mmap_flags")

    def __init__(self) -> None:
        self.mmap = False
        self.endianness: LoadEndianness | None = None
        self.mmap_flags = mmap.MAP_PRIVATE
        self.calculate_storage_offsets = False


class _Save:
    __slots__ = ("compute_crc32", "storage_alignment", "use_pinned_memory_for_d2h")

    def __init__(self) -> None:
        self.compute_crc32 = True
        self.use_pinned_memory_for_d2h = False
        self.storage_alignment = 64  # bytes


load = _Load()
save = _Save()


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order assumed of a file that does not state its own; None means little-endian."""
    return load.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order assumed of a file that does not state its own."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise ArgumentTypeError(
            "Invalid argument type in function set_default_load_endianness: expected a LoadEndianness or None, got "
            f"{type(endianness).__name__}"
        )
    load.endianness = endianness


def get_crc32_options() -> bool:
    """Whether `save` writes a checksum for each record."""
    return save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Set whether `save` writes a checksum for each record. Damage to a file without them goes unnoticed."""
    save.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int:
    """The flag with which `load(..., mmap=True)` maps a file: `mmap.MAP_PRIVATE` or `mmap.MAP_SHARED`."""
    return load.mmap_flags


class set_default_mmap_options:
    """Set the flag for mapping files. As a context manager, the old one is restored at the end of the block.

    With `MAP_PRIVATE` a write to a tensor changes memory only, with `MAP_SHARED` it changes the file.
    """

    def __init__(self, flags: int) -> None:
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ArgumentValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                f"but got {flags}"
            )
        self.prev = load.mmap_flags
        load.mmap_flags = flags

    def __enter__(self) -> None:
        """Nothing is left to do: the flag was set when the object was made."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        load.mmap_flags = self.prev


class _OfThread(threading.local):
    skips_data = False


_of_thread = _OfThread()


def skips_data() -> bool:
    """Whether the calling thread is in a `skip_data` block."""
    return _of_thread.skips_data


class skip_data:
    """In the block, `save` leaves the bytes of storages out, though not their place, and `load` does not read them.

    A saved file then has the size of a full one, with zeros for the data; loaded tensors are uninitialised. There are
    no FakeTensors, so `materialize_fake_tensors` changes nothing.
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors
        self._before: list[bool] = []

    def __enter__(self) -> Self:
        self._before.append(_of_thread.skips_data)
        _of_thread.skips_data = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _of_thread.skips_data = self._before.pop()
