"""On which device was a storage, and on which is it to be?

Mirrors: torch/serialization.py (register_package, location_tag, default_restore_location, _get_restore_location)
Differs: `cpu`, `cuda`, `meta` and a program's own device only, as these are the devices; other devices' storages
    need a `map_location`.
    Packages of the same priority are asked in the order in which they were registered.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from glasstorch.core.device import device as Device
from glasstorch.core.device import private_use
from glasstorch.core.errors import ArgumentError, DeviceError
from glasstorch.core.private_use import registered
from glasstorch.core.storage import UntypedStorage
from glasstorch.devices import runtime

Tagger = Callable[[Any], str | None]
Deserializer = Callable[[Any, str], Any]
MapLocation = Callable[[Any, str], Any] | Device | str | dict[str, str] | None

ON_THE_CPU = (
    "If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
    "storages to the CPU."
)

_packages: Final[list[tuple[int, Tagger, Deserializer]]] = []


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """Register how a kind of device is named in files, and how a storage comes to it.

    `tagger(storage)` returns the location that is written, `deserializer(storage, location)` the storage at a location
    that was read; both return None for other devices. Those of lower priority are asked first.
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Any) -> str:
    """The location of a storage, as it is written to files: `cpu`, `cuda:0` ..."""
    for _, tagger, _ in _packages:
        location = tagger(storage)
        if location:
            return location
    raise ArgumentError(f"don't know how to determine data location of {_name(storage)} on {storage.device}")


def default_restore_location(storage: Any, location: str) -> Any:
    """A storage moved to a location that was read from a file."""
    for _, _, deserializer in _packages:
        found = deserializer(storage, location)
        if found is not None:
            return found
    raise ArgumentError(f"don't know how to restore data location of {_name(storage)} (tagged with {location})")


def restored_by(map_location: Any) -> Deserializer:
    """What moves a storage to where `map_location` sends it."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, str | bytes | Device):
        wanted = map_location.decode() if isinstance(map_location, bytes) else str(map_location)
        return lambda storage, location: default_restore_location(storage, wanted)

    def called(storage: Any, location: str) -> Any:
        moved = map_location(storage, location)
        return default_restore_location(storage, location) if moved is None else moved

    return called


def leads_to_meta(map_location: Any) -> bool:
    """Whether all storages go to the meta device, so that no data need be read."""
    return str(map_location) == "meta" if isinstance(map_location, str | Device) else False


def validate_cuda_device(location: str) -> int:
    """The index of the CUDA device that a location names; DeviceError if there is none."""
    if not runtime.is_available():
        raise DeviceError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. " + ON_THE_CPU
        )
    index = Device(location).index
    index = runtime.current_device() if index is None else index
    if index >= runtime.device_count():
        raise DeviceError(
            f"Attempting to deserialize object on CUDA device {index} but torch.cuda.device_count() is "
            f"{runtime.device_count()}. Please use torch.load with map_location to map your storages to an existing "
            f"device."
        )
    return index


def validate_hpu_device(location: str) -> int:
    """Refused: there are no HPU devices."""
    raise DeviceError(f"The HPU device module is not registered: {location} cannot be used. {ON_THE_CPU}")


def _name(storage: object) -> str:
    return "torch.storage.UntypedStorage" if isinstance(storage, UntypedStorage) else type(storage).__name__


def _cpu_tag(storage: Any) -> str | None:
    return "cpu" if storage.device.type == "cpu" else None


def _to_cpu(storage: Any, location: str) -> Any:
    return storage if location == "cpu" else None


def _cuda_tag(storage: Any) -> str | None:
    return str(storage.device) if storage.device.type == "cuda" else None


def _to_cuda(storage: Any, location: str) -> Any:
    if re.match(r"cuda($|:|\d+)", location) is None:
        return None
    return storage.to(device=Device("cuda", validate_cuda_device(location)))


def _meta_tag(storage: Any) -> str | None:
    return "meta" if storage.device.type == "meta" else None


def _to_meta(storage: Any, location: str) -> Any:
    return UntypedStorage(storage.nbytes(), device="meta") if location == "meta" else None


def _own_tag(storage: Any) -> str | None:
    return str(storage.device) if storage.device.type == private_use.name else None


def _to_own(storage: Any, location: str) -> Any:
    """A storage on the program's own device, whose module says whether there is one of that index."""
    name = private_use.name
    if re.match(rf"{name}($|:|\d+)", location) is None:
        return None
    module = registered.module
    if module is None:
        raise DeviceError(f"The {name.upper()} device module is not registered. {ON_THE_CPU}")
    on = Device(location)
    if hasattr(module, "is_available") and not module.is_available():
        raise DeviceError(
            f"Attempting to deserialize object on a {name.upper()} device but torch.{name}.is_available() is False. "
            + ON_THE_CPU
        )
    if hasattr(module, "device_count") and (on.index or 0) >= module.device_count():
        raise DeviceError(
            f"Attempting to deserialize object on {name.upper()} device {on.index or 0} but "
            f"torch.{name}.device_count() is {module.device_count()}. Please use torch.load with map_location to map "
            f"your storages to an existing device."
        )
    return storage.to(device=on)


register_package(10, _cpu_tag, _to_cpu)
register_package(20, _cuda_tag, _to_cuda)
register_package(22, _meta_tag, _to_meta)
register_package(23, _own_tag, _to_own)
