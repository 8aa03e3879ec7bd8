"""How is a file loaded that was saved in the format from before PyTorch 1.6?

Mirrors: torch/serialization.py (_legacy_load)
Differs: a changed class is warned of without a patch file, and the archives of 2016 (.tar) are refused.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from pickle import UnpicklingError
from types import ModuleType
from typing import Any

from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentError
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.typed_storage import typed
from glasstorch.core.user_line import warn_user
from glasstorch.nn.modules.module import Module
from glasstorch.serialization import settings
from glasstorch.serialization.legacy_format import COUNT, MAGIC_NUMBER, PROTOCOL_VERSION
from glasstorch.serialization.locations import Deserializer
from glasstorch.serialization.names import written
from glasstorch.serialization.storages import as_saved_id, memory, unpickler
from glasstorch.serialization.zip_format import ArchiveError

TAR = b"ustar"


class NotACheckpointError(ArchiveError, UnpicklingError, seen_as=UnpicklingError):
    """A file is neither an archive nor a pickle, which PyTorch learns from Python's unpickler."""


class SourceChangeWarning(Warning):
    """The source of a module's class is not the one that the file was saved with."""


def read(file: Any, restore: Deserializer, module: ModuleType, arguments: dict[str, Any]) -> Any:
    """Load the object from an open file, with a module that unpickles; `arguments` are for its unpicklers."""
    start = file.tell()
    head = file.read(262)
    file.seek(start)
    if not head:
        raise EOFError("Ran out of input: the file is empty")
    if head[257:] == TAR:
        raise ArgumentError(
            "the file is in the legacy .tar format of PyTorch before 0.2, which glasstorch does not read; load it with "
            "PyTorch and save it again"
        )
    if head[0] != 0x80:  # how every pickle of protocol 2 or later begins
        raise NotACheckpointError(
            f"Invalid magic number; corrupt file? It begins with {head[:4]!r}, as neither an archive nor a pickle does"
        )
    if module.load(file, **arguments) != MAGIC_NUMBER:
        raise ArchiveError("Invalid magic number; corrupt file?")
    version = module.load(file, **arguments)
    if version != PROTOCOL_VERSION:
        raise ArchiveError(f"Invalid protocol version: {version!r}; expected {PROTOCOL_VERSION}")
    system = module.load(file, **arguments)
    storages = _Storages(file, restore)
    loaded = unpickler(file, module, storages.persistent_load, arguments).load()
    keys = module.load(file, **arguments)
    if not settings.skips_data():
        little = system.get("little_endian", True) if isinstance(system, dict) else True
        storages.fill(keys, swap=bool(little) != (sys.byteorder == "little"))
    return loaded


class _Storages:
    """The storages that a pickle refers to; their bytes come after it."""

    def __init__(self, file: Any, restore: Deserializer) -> None:
        self.file = file
        self.restore = restore
        self.by_key: dict[Any, tuple[UntypedStorage, Dtype]] = {}
        here = file.tell()
        file.seek(0, 2)
        self.bytes_left = file.tell() - here
        file.seek(here)

    def persistent_load(self, saved: Any) -> Any:
        """The storage that an id stands for, still without its bytes; or a module's class, whose source is compared."""
        if isinstance(saved, tuple) and len(saved) == 4 and saved[0] == "module":
            _compare_source(*saved[1:])
            return saved[1]
        dtype, key, location, count, view = as_saved_id(saved, 6)
        if key not in self.by_key:
            nbytes = count * dtype.itemsize
            self.bytes_left -= nbytes
            if self.bytes_left < 0 and not settings.skips_data():
                raise ArchiveError(f"the storage {key!r} should have {nbytes} bytes, more than the file holds")
            self.by_key[key] = self.restore(UntypedStorage(nbytes), location), dtype
        storage, held = self.by_key[key]
        if view is None:
            return typed(storage, dtype)
        if not (
            isinstance(view, tuple) and len(view) == 3 and all(type(part) is int and part >= 0 for part in view[1:])
        ):
            raise ArchiveError(f"the storage {key!r} is a view that cannot be read")
        view_key, offset, size = view
        if view_key not in self.by_key:
            self.by_key[view_key] = storage[offset * held.itemsize : (offset + size) * held.itemsize], held
        return typed(self.by_key[view_key][0], dtype)

    def fill(self, keys: Any, swap: bool) -> None:
        """Read the bytes of the storages, which follow in the order of their keys."""
        if not isinstance(keys, list) or any(type(key) is not str or key not in self.by_key for key in keys):
            raise ArchiveError("the list of the file's storages names some that nothing in it uses")
        for key in keys:
            storage, dtype = self.by_key[key]
            (count,) = COUNT.unpack(self._bytes(COUNT.size, key))
            if count * dtype.itemsize != storage.nbytes():
                raise ArchiveError(
                    f"the storage {key!r} has {count} elements of {dtype} in the file, and {storage.nbytes()} bytes in "
                    f"the object"
                )
            read = UntypedStorage.allocate(storage.nbytes())
            memory(read)[:] = self._bytes(storage.nbytes(), key)
            if swap:
                read.byteswap(dtype)
            storage.copy_(read)

    def _bytes(self, count: int, key: str) -> bytes:
        data = self.file.read(count)
        if len(data) != count:
            raise ArchiveError(f"unexpected EOF, the file ends in the storage {key!r}; it might be corrupted")
        return data  # type: ignore[no-any-return]


def _compare_source(cls: Any, file: Any, source: Any) -> None:
    """Warn where a user's class is no longer the one that was saved."""
    if not file or not source or not (isinstance(cls, type) and issubclass(cls, Module)) or written(cls):
        return
    try:
        current = inspect.getsource(cls)
    except (OSError, TypeError):
        warn_user(
            f"Couldn't retrieve source code for container of type {cls.__name__}. It won't be checked for correctness "
            f"upon loading."
        )
        return
    if source != current:
        warnings.warn(
            f"source code of class '{cls.__module__}.{cls.__qualname__}' has changed. It was saved with the text of "
            f"{file}; compare the two.",
            SourceChangeWarning,
            stacklevel=2,
        )
