"""How is an object saved in the format from before PyTorch 1.6?

Mirrors: torch/serialization.py (_legacy_save), torch/storage.py (__reduce__, _load_from_bytes)
"""

from __future__ import annotations

import inspect
import io
from types import ModuleType
from typing import Any

from glasstorch.core.dtype import uint8
from glasstorch.core.typed_storage import TypedStorage
from glasstorch.core.user_line import warn_user
from glasstorch.nn.modules.module import Module
from glasstorch.serialization.legacy_format import COUNT, MAGIC_NUMBER, PROTOCOL_VERSION, SYSTEM
from glasstorch.serialization.names import written
from glasstorch.serialization.pickler import STORAGES, SavedStorages, pickler
from glasstorch.serialization.storages import memory


def write(obj: object, file: Any, module: ModuleType, protocol: int) -> None:
    """Write an object to an open file."""
    storages = SavedStorages()
    itemsizes: dict[str, int] = {}
    classes: set[type] = set()

    def persistent_id(what: Any) -> Any:
        if isinstance(what, type) and issubclass(what, Module):
            if what in classes:
                return None
            classes.add(what)
            return "module", what, *((None, None) if written(what) else _source(what))
        if not isinstance(what, STORAGES):
            return None
        saved = storages.persistent_id(what)
        itemsizes.setdefault(saved[2], (what.dtype if isinstance(what, TypedStorage) else uint8).itemsize)
        return *saved, None  # storages are not views of others any more

    buffer = io.BytesIO()
    pickler(buffer, module, protocol, persistent_id).dump(obj)
    for header in (MAGIC_NUMBER, PROTOCOL_VERSION, SYSTEM):
        module.dump(header, file, protocol=protocol)
    file.write(buffer.getbuffer())
    keys = sorted(storages.by_key)
    module.dump(keys, file, protocol=protocol)
    for key in keys:
        data = memory(storages.by_key[key].cpu())
        file.write(COUNT.pack(data.nbytes // itemsizes[key]))
        file.write(data)


def _source(cls: type) -> tuple[str | None, str | None]:
    """The file and the source of a user's class, for a warning if the source has changed when it is loaded."""
    try:
        return inspect.getsourcefile(cls), inspect.getsource(cls)
    except (OSError, TypeError):
        warn_user(
            f"Couldn't retrieve source code for container of type {cls.__name__}. It won't be checked for correctness "
            f"upon loading."
        )
        return None, None
