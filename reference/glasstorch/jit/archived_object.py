"""What are the objects of an archive before they are modules?

Mirrors: torch/csrc/jit/serialization/unpickler.cpp (Unpickler), import.cpp (readArchive)

A pickle of PyTorch's archive names classes that stand in the archive itself. Here each becomes a class without methods,
whose objects hold attributes by name.
"""

from __future__ import annotations

import io
from pickle import UnpicklingError
from typing import Any

from glasstorch.core.device import device as Device
from glasstorch.jit.archive_writer import ROOT
from glasstorch.serialization.locations import leads_to_meta, restored_by
from glasstorch.serialization.rebuild import short
from glasstorch.serialization.storages import ArchivedStorages
from glasstorch.serialization.weights_only import Unpickler
from glasstorch.serialization.zip_reader import ArchiveReader


class ArchivedObject:
    """An object of a class of the archive: `path` names the class, `state` holds the attributes."""

    path = ""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: Any) -> None:
        if type(state) is not dict or not all(type(name) is str for name in state):
            raise UnpicklingError(f"the state of {self.path} must be attributes by name, got {short(state)}")
        self.state = state


class _Machine(Unpickler):
    """Reads a pickle in which the archive's own classes stand for their objects."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, encoding="utf-8")
        self.by_users = {}  # what a program allows torch.load is of no concern here
        self._classes: dict[str, type[ArchivedObject]] = {}

    def _found(self, module: str, name: str) -> Any:
        if module != ROOT and not module.startswith(f"{ROOT}."):
            return super()._found(module, name)
        path = f"{module}.{name}"
        if path not in self._classes:
            self._classes[path] = type("ArchivedObject", (ArchivedObject,), {"path": path})
        return self._classes[path]

    def _is_of_users(self, what: Any) -> bool:
        return isinstance(what, type) and issubclass(what, ArchivedObject)


def unpickled(archive: ArchiveReader, name: str, on: Device | None) -> Any:
    """The object of a pickle in an archive, `data` or `constants`, its storages on a device or where they were."""
    storages = ArchivedStorages(archive, restored_by(on), None, leads_to_meta(on), name)
    machine = _Machine(io.BytesIO(archive.read_record(f"{name}.pkl")))
    machine.persistent_load = storages.persistent_load
    return machine.load()
