"""Under which of PyTorch's paths does a file name a class or a function, and which is it here?

Mirrors: nothing; in PyTorch a pickle names things as they are
Differs: PyTorch must find what a file names, so a class here is written under its path there, and found by it.

`glasstorch.nn.modules.linear.Linear` is `torch.nn.modules.linear.Linear`, and most of what has a path in PyTorch is as
easily translated. The tables below hold the rest. What PyTorch does not have is written under its own path.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import BY_NAME
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import Rule
from glasstorch.core.layout import memory_format
from glasstorch.core.random.generator import Generator
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.typed_storage import LEGACY_CLASSES, LEGACY_NAMES, TypedStorage
from glasstorch.core.unknown_names import LIST_COMMAND
from glasstorch.python_forms import tensor_types
from glasstorch.serialization import rebuild

OURS, TORCH = "glasstorch", "torch"

TENSOR_TYPES: Final = {
    name: kind for name, kind in vars(tensor_types).items() if isinstance(kind, tensor_types.tensortype)
}

# What files name that has another name here, or another place than the tables below say.
SPECIAL: Final[dict[tuple[str, str], Any]] = {
    ("torch._utils", "_rebuild_tensor"): rebuild.tensor,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild.tensor_v2,
    ("torch._utils", "_rebuild_tensor_v3"): rebuild.tensor_v3,
    ("torch._utils", "_rebuild_meta_tensor_no_storage"): rebuild.meta_tensor,
    ("torch._utils", "_rebuild_parameter"): rebuild.parameter,
    ("torch._utils", "_rebuild_parameter_with_state"): rebuild.parameter_with_state,
    ("torch._utils", "_rebuild_sparse_tensor"): rebuild.sparse_tensor,
    ("torch._utils", "_rebuild_qtensor"): rebuild.quantized_tensor,
    ("torch._utils", "_rebuild_nested_tensor"): rebuild.nested_tensor,
    ("torch._utils", "_rebuild_wrapper_subclass"): rebuild.wrapper_subclass,
    ("torch._utils", "_rebuild_device_tensor_from_numpy"): rebuild.device_tensor,
    ("torch._utils", "_rebuild_device_tensor_from_cpu_tensor"): rebuild.device_tensor,
    ("torch._tensor", "_rebuild_from_type_v2"): rebuild.from_type,
    ("torch.serialization", "_get_layout"): rebuild.layout_of,
    ("torch._C", "Generator"): Generator,
    ("torch", "Tensor"): Tensor,
    ("torch.storage", "UntypedStorage"): UntypedStorage,
    ("torch.storage", "TypedStorage"): TypedStorage,
    **{("torch", name): storage for name, storage in LEGACY_CLASSES.items()},
    **{("torch", name): tensors for name, tensors in TENSOR_TYPES.items()},
}

# Our modules that hold what is elsewhere in PyTorch.
MODULES: Final = {
    "nn.modules.rnn_cells": "nn.modules.rnn",
    "nn.modules.attention": "nn.modules.activation",
    "nn.modules.transformer_layers": "nn.modules.transformer",
    "nn.functions": "nn.functional",
    "optim.lr_scheduler": "optim.lr_scheduler",
    "optim._adafactor": "optim",
    "optim._muon": "optim",
}

FOLDERS: Final = {"data": "utils.data"}  # folders that are elsewhere in PyTorch, with what is in them

# Our folders that have no path in PyTorch. What they define is public under `torch`, or not public.
INNER: Final = frozenset(
    (
        *("core", "dispatch", "devices", "calls", "operators", "outside_data", "python_forms", "printing", "_tensor"),
        *("kernels", "serialization"),
    )
)


WRITTEN_AS: Final = "_written_as"  # an attribute of classes that stand for those of a file: the module and the name


class UnknownGlobalError(Rule, AttributeError):
    """A file names a class or a function of PyTorch that is not here."""


class StorageType:
    """What the name of a legacy class of storages stands for in a file: a dtype."""

    def __init__(self, name: str) -> None:
        found = DTYPE_OF.get(name)
        if found is None:
            raise KeyError(f'pickle storage type "{name}" is not recognized')
        self._dtype = found

    @property
    def dtype(self) -> Dtype:
        """The dtype of the storage's elements."""
        return self._dtype

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


DTYPE_OF: Final = {storage: BY_NAME[dtype] for dtype, storage in LEGACY_NAMES.items()}
_SPECIAL_NAMES: Final = {id(what): place for place, what in reversed(SPECIAL.items())}


def written(what: Any, name: str | None = None) -> tuple[str, str] | None:
    """The module and the name under which a file names something of ours; None for what is not ours."""
    if isinstance(what, Dtype | memory_format):
        return TORCH, what.name
    if (place := _SPECIAL_NAMES.get(id(what))) is not None:
        return place
    if isinstance(what, type) and (place := vars(what).get(WRITTEN_AS)) is not None:
        return place  # type: ignore[no-any-return]
    module = getattr(what, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] != OURS:
        return None
    name = name or what.__qualname__
    inner = module.removeprefix(OURS).removeprefix(".")
    if inner.partition(".")[0] in INNER:
        return (TORCH, name) if vars(sys.modules[OURS]).get(name) is what else (module, name)
    for ours, torchs in MODULES.items():
        if inner == ours or inner.startswith(f"{ours}."):
            inner = torchs
    for ours, torchs in FOLDERS.items():
        if inner == ours or inner.startswith(f"{ours}."):
            inner = torchs + inner.removeprefix(ours)
    return f"{TORCH}.{inner}".removesuffix("."), name


def found(module: str, name: str) -> Any:
    """What a file means by a module and a name of PyTorch."""
    special = SPECIAL.get((module, name))
    if special is not None and "Storage" not in name:
        return special
    if name in DTYPE_OF:
        return StorageType(name)
    if special is not None:
        return special
    if (module, name) == ("torch._C", "_VariableFunctionsClass"):  # whose attributes are the functions of torch
        return import_module(OURS)
    for candidate in _candidates(module):
        value = _attribute(candidate, name)
        if value is not None:
            return partial(rebuild.named_results, value) if module == "torch.return_types" else value
    raise UnknownGlobalError(
        f"the file names {module}.{name}, which is not in glasstorch; `{LIST_COMMAND}` prints what there is"
    )


def is_of_torch(module: str) -> bool:
    """Whether a module that a file names is one of PyTorch's."""
    return module.partition(".")[0] == TORCH


def _candidates(module: str) -> list[str]:
    """Our modules that may hold what is in a module of PyTorch."""
    inner = {"torch.tensor": "_tensor"}.get(module, module.removeprefix(TORCH).removeprefix("."))  # a path of 1.6
    others = [ours for ours, torchs in MODULES.items() if torchs == inner and ours != inner]
    others += [ours + inner.removeprefix(torchs) for ours, torchs in FOLDERS.items() if inner.startswith(torchs)]
    return [f"{OURS}.{path}".removesuffix(".") for path in (inner, *others)]


def _attribute(module: str, name: str) -> Any:
    """A name in a module of ours, dots in it followed; None where there is no such module or name."""
    try:
        value: Any = import_module(module)
    except ModuleNotFoundError:
        return None
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def normalize_storage_type(storage_type: type) -> Any:
    """The class of storages that torch offers under the name of one of its modules' classes."""
    return SPECIAL.get((TORCH, storage_type.__name__), storage_type)


def storage_to_tensor_type(storage: TypedStorage) -> Any:
    """The legacy type of tensors with the dtype of a storage, such as `torch.FloatTensor`."""
    return TENSOR_TYPES[storage.pickle_storage_type().replace("Storage", "Tensor")]
