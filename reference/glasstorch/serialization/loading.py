"""How is an object loaded from a file?

Mirrors: torch/serialization.py (load, _load)
Differs: a TorchScript archive is refused by name, and not handed on to `jit.load`.
"""

from __future__ import annotations

import io
import os
import pickle
import re
from types import ModuleType
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import BY_NAME, uint8
from glasstorch.core.errors import ArgumentError, ArgumentValueError
from glasstorch.core.geometry import contiguous_strides
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.typed_storage import typed
from glasstorch.core.user_line import warn_user
from glasstorch.serialization import allowed, legacy_reader, rebuild, settings
from glasstorch.serialization import weights_only as restricted
from glasstorch.serialization.files import is_path, opened_to_read
from glasstorch.serialization.locations import MapLocation, leads_to_meta, restored_by
from glasstorch.serialization.storages import ArchivedStorages, mapped, memory, unpickler
from glasstorch.serialization.versions import check_dill
from glasstorch.serialization.zip_format import LOCAL_SIGNATURE
from glasstorch.serialization.zip_reader import ArchiveReader

TRUE = ("1", "y", "yes", "true")  # in environment variables
# The names of dtypes in files of the safetensors library.
SAFETENSORS = {
    f"{kind}{bits}": f"{name}{bits}" for kind, name in (("I", "int"), ("U", "uint")) for bits in (8, 16, 32, 64)
} | {
    "BOOL": "bool",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
}
PRECAUTION = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to "
    "`True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
    "arbitrary code execution. Do it only if you got the file from a trusted source."
)
DOCUMENTED = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)


def load(
    f: Any,
    map_location: MapLocation = None,
    pickle_module: ModuleType | None = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load an object from a file that `save`, or PyTorch's, wrote: a path, or an object with `read`, `seek` and `tell`.

    By default the file may hold tensors, containers and numbers only, and what `add_safe_globals` allows; with
    `weights_only=False` it can hold any object and run any code. `map_location` says on which device each storage is to
    be: one for all, a dict from locations to others, or a function of a storage and its location. With `mmap=True`
    storages are parts of the mapped file, which is read when they are used, and checksums are not checked.
    """
    safely = _is_weights_only(weights_only, pickle_module)
    if safely and pickle_module is not None:
        raise ArgumentError("Can not safely load weights when explicit pickle_module is specified")
    if pickle_load_args and safely:
        warn_user("pickle_load_args only works if `weights_only=False`.")
    check_dill(pickle_module)
    pickle_load_args.setdefault("encoding", "utf-8")
    maps = settings.load.mmap if mmap is None else mmap
    if is_path(f) and os.fsdecode(f).endswith(".safetensors"):
        return _load_safetensors(os.fsdecode(f), map_location)
    module = restricted if safely else pickle_module or pickle
    try:
        with opened_to_read(f) as file:
            if _is_archive(file):
                return _load_archive(f, file, map_location, module, maps, pickle_load_args)
            if maps:
                raise ArgumentError(
                    "mmap can only be used with files saved with `torch.save(_use_new_zipfile_serialization=True), "
                    "please torch.save your checkpoint with this option in order to use mmap."
                )
            return legacy_reader.read(file, restored_by(map_location), module, pickle_load_args)
    except legacy_reader.NotACheckpointError:
        raise  # without advice: no setting would load it
    except pickle.UnpicklingError as error:
        if not safely:
            raise
        raise pickle.UnpicklingError(_advice(str(error))) from error.__cause__


def _load_archive(
    given: Any, file: Any, map_location: Any, module: ModuleType, maps: bool, arguments: dict[str, Any]
) -> Any:
    archive = ArchiveReader(file)
    if archive.has_record("constants.pkl"):
        raise ArgumentError(
            "'torch.load' received a zip file that looks like a TorchScript archive, a program and not an object; "
            "torch.jit.load is for those"
        )
    if maps and not is_path(given):
        raise ArgumentValueError("f must be a file path in order to use the mmap argument")
    on_meta = leads_to_meta(map_location)
    whole = mapped(given) if maps and not on_meta else None
    storages = ArchivedStorages(archive, restored_by(map_location), whole, on_meta)
    content = io.BytesIO(archive.read_record("data.pkl"))
    return unpickler(content, module, storages.persistent_load, arguments).load()


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The classes and functions that a file names and that are not allowed. The file is read, and nothing is run."""
    with opened_to_read(f) as file:
        if not _is_archive(file):
            raise ArgumentValueError("Expected input to be a checkpoint returned by torch.save")
        archive = ArchiveReader(file)
        if archive.has_record("constants.pkl"):
            raise ArgumentValueError(
                "Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint"
            )
        found = restricted.globals_in(archive.read_record("data.pkl"))
    return sorted(found - allowed.by_default().keys() - allowed.by_users().keys())


def _is_archive(file: Any) -> bool:
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    return bool(head == LOCAL_SIGNATURE.to_bytes(4, "little"))


def _is_weights_only(asked: bool | None, pickle_module: ModuleType | None) -> bool:
    """Whether only what is on the list is loaded: as asked for, unless the environment says otherwise."""
    forced = _is_set("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    forbidden = _is_set("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    if forced and forbidden:
        raise ArgumentError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if forced:
        return True
    if asked is not None:
        return asked
    if forbidden:
        warn_user(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the `weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False."
        )
        return False
    return pickle_module is None


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "0").lower() in TRUE


def _advice(message: str) -> str:
    """The whole message for a file that holds more than weights."""
    if re.search(r"GLOBAL (\S+) was not an allowed global by default.", message) is not None:
        return (
            "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those "
            f"steps only if you trust the source of the checkpoint\033[0m. \n\t(1) {PRECAUTION}\n\t(2) Alternatively, "
            "to load with `weights_only=True` please check the recommended steps in the following error message.\n\t"
            f"WeightsUnpickler error: {message}{DOCUMENTED}"
        )
    return f"Weights only load failed. {PRECAUTION}\nWeightsUnpickler error: \n\n{message}{DOCUMENTED}"


def _load_safetensors(path: str, map_location: Any) -> Any:
    """The tensors of a file in the format of the safetensors library, by their names."""
    if map_location is not None and not isinstance(map_location, str | Device):
        kind = "dict" if isinstance(map_location, dict) else "callable"
        raise ArgumentError(
            f"Loading safetensors file with {kind} map_location is not supported. Use a device string or torch.device "
            f"instead."
        )
    try:
        from safetensors import deserialize
    except ImportError as error:
        raise ArgumentError(
            "Attempting to load a safetensors file but safetensors is not installed. Please install safetensors with: "
            "pip install safetensors"
        ) from error
    with open(path, "rb") as file:
        found: Any = deserialize(file.read())  # type: ignore[no-untyped-call]
    tensors = {name: _tensor_of(**parts) for name, parts in found}
    return tensors if map_location is None else {name: made.to(map_location) for name, made in tensors.items()}


def _tensor_of(dtype: str, shape: list[int], data: Any) -> Tensor:
    """A tensor from what the safetensors library says about it."""
    if dtype not in SAFETENSORS:
        raise ArgumentError(f"the file has a tensor of the dtype {dtype}, which is not in glasstorch")
    storage = UntypedStorage.allocate(len(data))
    memory(storage)[:] = data
    strides = contiguous_strides(tuple(shape))
    return rebuild.tensor_v3(typed(storage, uint8), 0, shape, strides, False, None, BY_NAME[SAFETENSORS[dtype]])
