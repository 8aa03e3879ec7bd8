"""How is an object saved to a file?

Mirrors: torch/serialization.py (save, _save)
Differs: a path holds the whole new file or the old one, whatever happens; see `files`.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from types import ModuleType
from typing import Any

from glasstorch.core.errors import ArgumentError, ArgumentValueError
from glasstorch.core.storage import UntypedStorage
from glasstorch.serialization import legacy_writer, settings
from glasstorch.serialization.files import is_path, opened_to_write
from glasstorch.serialization.pickler import PROTOCOL, STORAGES, SavedStorages, pickler
from glasstorch.serialization.versions import check_dill
from glasstorch.serialization.zip_writer import ArchiveWriter


def save(
    obj: object,
    f: Any,
    pickle_module: ModuleType = pickle,
    pickle_protocol: int = PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save an object to a file that `load`, and PyTorch's, reads: a path, or an object with `write`.

    Tensors keep their dtype, geometry and device, and those that share a storage share it when they are loaded. A path
    holds the new file when all of it is written; after an error, the old one.
    """
    check_dill(pickle_module)
    if not _use_new_zipfile_serialization:
        if settings.skips_data():
            raise ArgumentError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
        with opened_to_write(f) as file:
            legacy_writer.write(obj, file, pickle_module, pickle_protocol)
        return
    with opened_to_write(f) as file:
        # Before anything is written, so that what cannot be pickled leaves an open file as it was.
        content, storages = _pickled(obj, pickle_module, pickle_protocol)
        archive = ArchiveWriter(
            file, folder_of(f), settings.save.compute_crc32, settings.save.storage_alignment, fresh=_is_new_file(f)
        )
        archive.write_record("data.pkl", content)
        archive.write_record(".format_version", b"1")
        archive.write_record(".storage_alignment", str(archive.alignment).encode())
        if not _disable_byteorder_record:
            archive.write_record("byteorder", sys.byteorder.encode())
        for key, storage in storages.by_key.items():
            _write_storage(archive, f"data/{key}", storage)
        archive.finish()


def _pickled(obj: object, module: ModuleType, protocol: int) -> tuple[bytes, SavedStorages]:
    storages = SavedStorages()

    def persistent_id(what: Any) -> Any:
        return storages.persistent_id(what) if isinstance(what, STORAGES) else None

    buffer = io.BytesIO()
    pickler(buffer, module, protocol, persistent_id).dump(obj)
    return buffer.getvalue(), storages


def _write_storage(archive: ArchiveWriter, name: str, storage: UntypedStorage) -> None:
    if settings.skips_data():
        archive.reserve_record(name, storage.nbytes())
    elif storage.device.type == "meta":
        raise ArgumentValueError(f"a storage on meta has {storage.nbytes()} bytes by name only; they cannot be saved")
    else:
        archive.write_record(name, storage.cpu().buffer)


def folder_of(file: Any) -> str:
    """The folder in which an archive keeps its records: the file's name without its ending.

    >>> folder_of("runs/model.best.pt"), folder_of(io.BytesIO())
    ('model.best', 'archive')
    """
    if not is_path(file):
        return "archive"
    name = os.path.basename(os.fsdecode(file)).rpartition(".")
    stem = name[0] or name[2]
    return stem if stem.isascii() else "archive"


def _is_new_file(file: Any) -> bool:
    """Whether the file was made by `save`, so that nothing is in it yet."""
    return is_path(file) and (not os.path.exists(file) or os.path.isfile(file))
