"""What holds a tensor's bytes?

Mirrors: c10/core/Storage.h, c10/core/StorageImpl.h, torch/storage.py (UntypedStorage)
Differs: one class instead of a handle and an implementation; Python's references do the counting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch.core.allocator import Buffer, cpu_allocator
from glasstorch.core.device import CPU, device
from glasstorch.core.errors import StorageError


class Storage:
    """A run of bytes on one device, which any number of tensors look at.

    `memory` is a row-major array over the bytes, of whatever shape and dtype it was made with, or None for a device
    that has none here (meta). `generation` changes whenever `memory` is replaced, so that an array cached on a tensor
    can be seen to be stale.
    """

    __slots__ = ("__weakref__", "_nbytes", "device", "generation", "memory", "resizable")

    def __init__(
        self, memory: np.ndarray[Any, Any] | None, nbytes: int, on: device = CPU, resizable: bool = True
    ) -> None:
        self.memory = memory
        self._nbytes = nbytes
        self.device = on
        self.resizable = resizable
        self.generation = 0

    @classmethod
    def allocate(cls, nbytes: int, on: device = CPU) -> Storage:
        """A new storage of uninitialised bytes; on the meta device it has a size and no bytes."""
        return cls(None if on.type == "meta" else cpu_allocator.allocate(nbytes), nbytes, on)

    @classmethod
    def over(cls, array: np.ndarray[Any, Any], resizable: bool = False) -> Storage:
        """A storage that shares the memory of a row-major array and keeps it alive.

        It may be `resizable` only where nobody else expects to see its bytes in that array.
        """
        return cls(array, array.nbytes, CPU, resizable)

    @property
    def buffer(self) -> Buffer | None:
        """The bytes as a one-dimensional uint8 array; None where there are none."""
        return None if self.memory is None else self.memory.reshape(-1).view(np.uint8)

    def nbytes(self) -> int:
        """The size in bytes."""
        return self._nbytes

    def size(self) -> int:
        """The size in bytes: an untyped storage counts bytes."""
        return self._nbytes

    def __len__(self) -> int:
        return self._nbytes

    def data_ptr(self) -> int:
        """The address of the first byte; 0 where there are no bytes."""
        if self.memory is None or not self._nbytes:
            return 0
        return int(self.memory.ctypes.data)

    def resize_(self, nbytes: int) -> Storage:
        """Change the size in place; what fits is kept, what is new is not initialised."""
        if nbytes == self._nbytes:
            return self
        if not self.resizable:
            raise StorageError(
                f"Trying to resize storage that is not resizable: asked for {nbytes} bytes, it has {self._nbytes} and "
                f"its memory belongs to somebody else (a NumPy array); clone() the tensor first"
            )
        old = self.buffer
        if old is not None:
            fresh = cpu_allocator.allocate(nbytes)
            kept = min(nbytes, self._nbytes)
            fresh[:kept] = old[:kept]
            self.memory = fresh
        self._nbytes = nbytes
        self.generation += 1
        return self

    def tolist(self) -> list[int]:
        """The bytes as Python ints."""
        buffer = self.buffer
        if buffer is None:
            raise StorageError(f"cannot read a storage on {self.device}: it has a size and no bytes")
        return [int(byte) for byte in buffer]

    def __repr__(self) -> str:
        return f"<Storage of {self._nbytes} bytes on {self.device}>"
