"""How do several processes see the same bytes?

Mirrors: aten/src/ATen/MapAllocator.cpp, torch/csrc/StorageSharing.cpp (_share_fd_cpu_, _new_shared_fd_cpu)
Differs: PyTorch's `file_descriptor` strategy only: the memory is an anonymous file, which the system frees when the
    last process has closed it, however that process ends. Nothing is left to clean up, and no manager runs.
"""

from __future__ import annotations

import mmap
import os
from typing import Any

import numpy as np

from glasstorch.core.allocator import Buffer
from glasstorch.core.errors import ArgumentError, FileError, MissingFileError


class SharedMemory:
    """A mapped file: `memory` is an array over its bytes, `descriptor` is what is sent to another process.

    The mapping lives as long as an array over it; the descriptor, which is only needed for sending, as long as this
    object.
    """

    __slots__ = ("__weakref__", "descriptor", "filename", "memory")

    def __init__(self, descriptor: int, nbytes: int, filename: str | None = None, private: bool = False) -> None:
        """Maps the first `nbytes` of an open file, whose descriptor is closed with this object."""
        self.memory: Buffer = np.empty(0, np.uint8)
        if nbytes:
            access = mmap.ACCESS_COPY if private else mmap.ACCESS_WRITE
            self.memory = np.frombuffer(mmap.mmap(descriptor, nbytes, access=access), np.uint8)
        self.filename = filename
        self.descriptor = descriptor  # last: where mapping fails, the caller closes the file

    @classmethod
    def allocate(cls, nbytes: int) -> SharedMemory:
        """New anonymous memory, all zeros."""
        descriptor = _anonymous_file()
        try:
            os.ftruncate(descriptor, nbytes)
            return cls(descriptor, nbytes)
        except BaseException:
            os.close(descriptor)
            raise

    @classmethod
    def of_file(cls, filename: str, nbytes: int, shared: bool) -> SharedMemory:
        """The first bytes of a file. Writes reach it only if `shared`; it then grows where it is too short."""
        if nbytes < 0:
            raise ArgumentError(f"unable to mmap {nbytes} bytes from file <{filename}>: the size must be 0 or more")
        descriptor = _opened(filename, shared)
        try:
            size = os.fstat(descriptor).st_size
            if size < nbytes:
                if not shared:
                    raise ArgumentError(
                        f"from_file: asked for {nbytes} bytes of {filename}, which has {size}; a file that is not "
                        f"shared does not grow"
                    )
                os.ftruncate(descriptor, nbytes)
            return cls(descriptor, nbytes, filename if shared else None, private=not shared)
        except BaseException:
            os.close(descriptor)
            raise

    @property
    def identity(self) -> tuple[int, int]:
        """Equal for two descriptors exactly if they are of one file."""
        about = os.fstat(self.descriptor)
        return about.st_dev, about.st_ino

    def __del__(self, close: Any = os.close) -> None:
        if hasattr(self, "descriptor"):
            close(self.descriptor)


def _opened(filename: str, writable: bool) -> int:
    """The descriptor of a file, which is created if it is missing and `writable` is set."""
    try:
        return os.open(filename, os.O_RDWR | os.O_CREAT if writable else os.O_RDONLY, 0o600)
    except OSError as error:
        kind = MissingFileError if isinstance(error, FileNotFoundError) else FileError
        mode = "read-write" if writable else "read-only"
        raise kind(
            error.errno, f"unable to open file <{filename}> in {mode} mode: {error.strerror} ({error.errno})"
        ) from error


def _anonymous_file() -> int:
    """The descriptor of a new file that has no name in any folder."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("glasstorch")
    import tempfile  # takes 3 ms to import; only for systems without memfd_create

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
