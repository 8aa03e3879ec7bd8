"""Which storage does an id in a pickle stand for?

Mirrors: torch/serialization.py (_load: load_tensor, persistent_load, UnpicklerWrapper)
Differs: an id is checked before it is used, and its size is compared with the record's.
"""

from __future__ import annotations

import mmap
import os
import sys
from functools import cache
from types import ModuleType
from typing import Any

from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import uint8
from glasstorch.core.errors import ArgumentValueError
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.typed_storage import TypedStorage, typed
from glasstorch.serialization import names, settings, weights_only
from glasstorch.serialization.locations import Deserializer
from glasstorch.serialization.names import StorageType
from glasstorch.serialization.rebuild import short
from glasstorch.serialization.settings import LoadEndianness
from glasstorch.serialization.zip_format import ArchiveError
from glasstorch.serialization.zip_reader import ArchiveReader

BYTE_ORDER = "byteorder"  # the record with the file's byte order
ALIGNED = 16  # bytes: a storage that does not begin at a multiple is copied, as elements of it may not be


class ArchivedStorages:
    """The storages of an archive: each is read when an id first names it.

    With `mapped`, a storage over the whole file, they are parts of that storage. `on_meta` leaves their bytes unread.
    """

    def __init__(
        self,
        archive: ArchiveReader,
        restore: Deserializer,
        mapped: UntypedStorage | None,
        on_meta: bool,
        folder: str = "data",
    ) -> None:
        self.archive = archive
        self.folder = folder  # of the records with their bytes
        self.restore = restore
        self.mapped = mapped
        self.on_meta = on_meta
        self.swaps = byte_order(archive) != sys.byteorder
        self.by_key: dict[str, UntypedStorage] = {}

    def persistent_load(self, saved: Any) -> TypedStorage:
        """The storage that an id stands for."""
        dtype, key, location, count, _ = as_saved_id(saved, 5)
        if key not in self.by_key:
            storage = self._read(f"{self.folder}/{key}", count * dtype.itemsize, dtype)
            self.by_key[key] = storage if self.on_meta else self.restore(storage, location)
        return typed(self.by_key[key], dtype)

    def _read(self, name: str, nbytes: int, dtype: Dtype) -> UntypedStorage:
        found = self.archive.record(name).nbytes
        if found != nbytes:
            raise ArchiveError(f"the record {name!r} has {found} bytes, and the object has a storage of {nbytes} there")
        if self.on_meta:
            return UntypedStorage(nbytes, device="meta")
        if settings.skips_data():
            return UntypedStorage.allocate(nbytes)
        begin = self.archive.offset(name) if self.mapped is not None else 1
        if self.mapped is not None and begin % ALIGNED == 0:
            storage = self.mapped[begin : begin + nbytes]
        else:
            storage = UntypedStorage.allocate(nbytes)
            self.archive.read_record_into(name, memory(storage))
        if self.swaps:
            storage.byteswap(dtype)
        assert isinstance(storage, UntypedStorage)
        return storage


def memory(storage: UntypedStorage) -> memoryview:
    """The bytes of a storage on the CPU."""
    held: Any = storage.buffer
    assert held is not None, "NumPy reaches the bytes of a CPU storage"
    return memoryview(held)


def mapped(path: Any) -> UntypedStorage:
    """A storage over a whole file. Nothing is read; a write changes memory only, unless `MAP_SHARED` is set."""
    shared = settings.load.mmap_flags == mmap.MAP_SHARED
    return UntypedStorage.from_file(os.fsdecode(path), shared, os.path.getsize(path))


def byte_order(archive: ArchiveReader) -> str:
    """The byte order of an archive: `little` or `big`."""
    if archive.has_record(BYTE_ORDER):
        stated = archive.read_record(BYTE_ORDER)
        if stated not in (b"little", b"big"):
            raise ArgumentValueError(f"Unknown endianness type: {stated!r}; it is 'little' or 'big'")
        return stated.decode()
    orders = {None: "little", LoadEndianness.LITTLE: "little", LoadEndianness.BIG: "big"}
    return orders.get(settings.load.endianness, sys.byteorder)


def as_saved_id(saved: Any, length: int) -> tuple[Dtype, str, str, int, Any]:
    """The dtype, key, location and number of elements that an id of a storage gives, and its last part."""
    if not isinstance(saved, tuple) or len(saved) != length or _text(saved[0]) != "storage":
        raise ArchiveError(f"a storage has an id of {length} parts that begins with 'storage', not {short(saved)}")
    _, kind, key, location, count = saved[:5]
    if isinstance(kind, StorageType):
        dtype = kind.dtype
    elif kind is UntypedStorage:
        dtype = uint8
    else:
        raise ArchiveError(f"the id of a storage names {short(kind)}, which is not a type of storages")
    key, location = _text(key), _text(location)
    if not isinstance(key, str) or not isinstance(location, str) or type(count) is not int or count < 0:
        raise ArchiveError(f"the id of a storage has a key, a location and a size that cannot be read: {short(saved)}")
    return dtype, key, location, count, saved[-1]


def _text(value: Any) -> Any:
    """A str; strings of Python 2 may come as bytes."""
    return value.decode("ascii", "replace") if isinstance(value, bytes) else value


def unpickler(file: Any, module: ModuleType, persistent_load: Any, arguments: dict[str, Any]) -> Any:
    """An unpickler of a module, which finds PyTorch's classes here and storages by their ids."""
    if module is weights_only:
        machine = weights_only.Unpickler(file, **arguments)
        machine.persistent_load = persistent_load
        return machine
    made: Any = _class_over(module.Unpickler)(file, **arguments)
    made.persistent_load = persistent_load
    return made


@cache
def _class_over(base: type) -> type:
    """The class of unpicklers over one of a module."""
    return type("ArchiveUnpickler", (_FindsOurs, base), {})


class _FindsOurs:
    """What is put before an unpickler: names of PyTorch stand for what is here."""

    def find_class(self, module: str, name: str) -> Any:
        """The class or function that a pickle names."""
        if names.is_of_torch(module):
            return names.found(module, name)
        return super().find_class(module, name)  # type: ignore[misc]
