"""What holds a tensor's bytes?

Mirrors: c10/core/Storage.h, c10/core/StorageImpl.h, torch/storage.py (UntypedStorage)
Differs: one class instead of a handle and an implementation; Python's references do the counting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch.core import hooks
from glasstorch.core.allocator import Buffer, cpu_allocator
from glasstorch.core.device import CPU, device
from glasstorch.core.errors import StorageError


class Storage:
    """A run of bytes on one device, which any number of tensors look at.

    `memory` is a row-major array over the bytes, of whatever shape and dtype it was made with; None for a device whose
    bytes NumPy cannot reach (cuda: `block` holds them) and for one that has none (meta). `generation` changes whenever
    the bytes are replaced, so that an array cached on a tensor can be seen to be stale.
    """

    __slots__ = ("__weakref__", "_nbytes", "block", "device", "generation", "memory", "resizable")

    def __init__(
        self, memory: np.ndarray[Any, Any] | None, nbytes: int, on: device = CPU, resizable: bool = True
    ) -> None:
        self.memory = memory
        self.block: hooks.DeviceBlock | None = None
        self._nbytes = nbytes
        self.device = on
        self.resizable = resizable
        self.generation = 0

    @classmethod
    def allocate(cls, nbytes: int, on: device = CPU) -> Storage:
        """A new storage of uninitialised bytes; on the meta device it has a size and no bytes.

        A CUDA device comes with its index.
        """
        if on is CPU:
            return cls(cpu_allocator.allocate(nbytes), nbytes)
        storage = cls(None, nbytes, on)
        if on.type == "cuda":
            assert on.index is not None, "nobody has said which CUDA device"
            storage.block = hooks.memory_hooks.allocate(nbytes, on)
        return storage

    @classmethod
    def over(cls, array: np.ndarray[Any, Any], resizable: bool = False) -> Storage:
        """A storage that shares the memory of a row-major array and keeps it alive.

        It may be `resizable` only where nobody else expects to see its bytes in that array.
        """
        return cls(array, array.nbytes, CPU, resizable)

    @property
    def buffer(self) -> Buffer | None:
        """The bytes as a one-dimensional uint8 array; None where NumPy reaches none."""
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
        if not self._nbytes:
            return 0
        if self.memory is None:
            return 0 if self.block is None else self.block.address
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
        fresh = Storage.allocate(nbytes, self.device)
        fresh.copy_(self, min(nbytes, self._nbytes))
        self.memory, self.block = fresh.memory, fresh.block
        self._nbytes = nbytes
        self.generation += 1
        return self

    def copy_(self, source: Storage, nbytes: int | None = None) -> Storage:
        """Overwrite the first bytes (all of the source's where no number is given) with those of another storage."""
        count = source._nbytes if nbytes is None else nbytes
        if count > min(self._nbytes, source._nbytes):
            raise StorageError(f"cannot copy {count} bytes from {source!r} to {self!r}: one of them is smaller")
        mine, others = self.buffer, source.buffer
        if mine is not None and others is not None:
            mine[:count] = others[:count]
        elif count and self.device.type != "meta":
            hooks.memory_hooks.copy_bytes(self, source, count)
        return self

    def cpu(self) -> Storage:
        """The bytes in main memory; the storage itself where they are there."""
        return self if self.device is CPU else Storage.allocate(self._nbytes).copy_(self)

    def clone(self) -> Storage:
        """The bytes once more, on the same device."""
        return Storage.allocate(self._nbytes, self.device).copy_(self)

    def tolist(self) -> list[int]:
        """The bytes as Python ints."""
        if self.device.type == "meta":
            raise StorageError(f"cannot read a storage on {self.device}: it has a size and no bytes")
        buffer = self.cpu().buffer
        assert buffer is not None
        return [int(byte) for byte in buffer]

    def __repr__(self) -> str:
        return f"<Storage of {self._nbytes} bytes on {self.device}>"
