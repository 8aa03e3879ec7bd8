"""Which functions of torch._utils do programs and pickles call?

Mirrors: torch/_utils.py
Differs: how a pickled tensor is rebuilt is in serialization/rebuild.py, and how an error reaches another process in
    core/exception_wrapper.py. PyTorch's file has more.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, ParamSpec

from glasstorch import cuda, overrides, printing
from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentError
from glasstorch.core.exception_wrapper import ExceptionWrapper as ExceptionWrapper
from glasstorch.core.exception_wrapper import KeyErrorMessage as KeyErrorMessage
from glasstorch.core.keys import CONJUGATE, NEGATIVE
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.nn.parameter import UninitializedParameter
from glasstorch.operators.generated.functions import cat, sparse_coo_tensor, view_as_real
from glasstorch.serialization.rebuild import device_tensor as _rebuild_device_tensor_from_cpu_tensor
from glasstorch.serialization.rebuild import device_tensor as _rebuild_device_tensor_from_numpy
from glasstorch.serialization.rebuild import meta_tensor as _rebuild_meta_tensor_no_storage
from glasstorch.serialization.rebuild import nested_tensor as _rebuild_nested_tensor
from glasstorch.serialization.rebuild import parameter as _rebuild_parameter
from glasstorch.serialization.rebuild import parameter_with_state as _rebuild_parameter_with_state
from glasstorch.serialization.rebuild import quantized_tensor as _rebuild_qtensor
from glasstorch.serialization.rebuild import sparse_tensor as _rebuild_sparse_tensor
from glasstorch.serialization.rebuild import tensor as _rebuild_tensor
from glasstorch.serialization.rebuild import tensor_v2 as _rebuild_tensor_v2
from glasstorch.serialization.rebuild import tensor_v3 as _rebuild_tensor_v3
from glasstorch.serialization.rebuild import wrapper_subclass as _rebuild_wrapper_subclass

__all__ = [
    "CallbackRegistry",
    "ExceptionWrapper",
    "KeyErrorMessage",
    "_element_size",
    "_flatten_dense_tensors",
    "_flatten_sparse_tensors",
    "_get_device_index",
    "_handle_complex",
    "_rebuild_device_tensor_from_cpu_tensor",
    "_rebuild_device_tensor_from_numpy",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_nested_tensor",
    "_rebuild_parameter",
    "_rebuild_parameter_with_state",
    "_rebuild_qtensor",
    "_rebuild_sparse_tensor",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_tensor_v3",
    "_rebuild_wrapper_subclass",
    "_reorder_tensors_as",
    "_take_tensors",
    "_unflatten_dense_tensors",
    "_unflatten_sparse_tensors",
    "classproperty",
    "cpu_count",
    "get_current_device_index",
    "get_tensor_metadata",
    "is_compiling",
    "render_call",
    "set_tensor_metadata",
    "try_import",
]

P = ParamSpec("P")
BITS = {"conj": CONJUGATE, "neg": NEGATIVE}  # of a tensor, which are written beside its elements

logger = logging.getLogger(__name__)


# Many tensors in one ------------------------------------------------------------------------------------------------


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """The elements of all tensors in one tensor of one dimension; of one contiguous tensor, a view."""
    rows = [tensor.contiguous().view(-1) for tensor in tensors]
    return rows[0] if len(rows) == 1 else cat(rows)


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Views of a flat tensor with the shapes of these tensors, one after the other."""
    parts, start = [], 0
    for tensor in tensors:
        parts.append(flat.narrow(0, start, tensor.numel()).view(tensor.shape))
        start += tensor.numel()
    return tuple(parts)


def _take_tensors(tensors: Sequence[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Groups of tensors of one dtype and device, of at most so many bytes each; a larger tensor is alone in its group.

    The order is kept among the tensors of one dtype and device.
    """
    groups: dict[str, tuple[list[Tensor], int]] = {}
    for tensor in tensors:
        kind, size = str(tensor.type()), tensor.nbytes
        group, total = groups.get(kind, ([], 0))
        if total > 0 and total + size > size_limit:
            yield group
            group, total = [], 0
        groups[kind] = ([*group, tensor], total + size)
    yield from (group for group, _ in groups.values())


def _flatten_sparse_tensors(tensors: Iterable[Tensor]) -> tuple[Tensor, Tensor]:
    """The indices of sparse tensors in one tensor of one dimension, and their values in another."""
    found = list(tensors)
    return _flatten_dense_tensors([t._indices() for t in found]), _flatten_dense_tensors([t._values() for t in found])


def _unflatten_sparse_tensors(flat: tuple[Tensor, Tensor], tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Sparse tensors from their indices and values, each as `_flatten_sparse_tensors` gives them."""
    like = list(tensors)
    indices = _unflatten_dense_tensors(flat[0], [t._indices() for t in like])
    values = _unflatten_dense_tensors(flat[1], [t._values() for t in like])
    return tuple(sparse_coo_tensor(i, v, t.shape) for t, i, v in zip(like, indices, values, strict=True))


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered_tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Tensors whose order is right within each type, in the order in which others have these types."""
    kinds: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        kinds.setdefault(str(tensor.type()), []).append(tensor)
    next_of = {kind: iter(found) for kind, found in kinds.items()}
    return tuple(next(next_of[str(tensor.type())]) for tensor in ordered_tensors)


# Facts of a tensor, a device, a call ----------------------------------------------------------------------------------


def _element_size(dtype: Dtype) -> int:
    """How many bytes an element of a dtype has."""
    if not isinstance(dtype, Dtype):
        raise ArgumentError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


def _handle_complex(tensor: Tensor) -> Tensor:
    """A complex tensor as pairs of real numbers; any other as it is."""
    is_complex = not isinstance(tensor, UninitializedParameter) and tensor.is_complex()
    return view_as_real(tensor) if is_complex else tensor


def get_tensor_metadata(tensor: Tensor) -> dict[str, bool]:
    """What a file has to keep of a tensor beside its elements: which of the bits `conj` and `neg` are set."""
    if not isinstance(tensor, Tensor):
        raise AssertionError(f"expected torch.Tensor, got {type(tensor).__name__}")
    return {name: True for name, bit in BITS.items() if tensor.key_set & bit}


def set_tensor_metadata(tensor: Tensor, metadata: dict[str, bool]) -> None:
    """Set the bits that a file has kept: those that are named, whatever their value is, as in PyTorch."""
    if not isinstance(metadata, dict):
        raise AssertionError(f"expected dict, got {type(metadata).__name__}")
    if not isinstance(tensor, Tensor):
        raise AssertionError(f"expected torch.Tensor, got {type(tensor).__name__}")
    for name, bit in BITS.items():
        if name in metadata:
            tensor.key_set |= bit


def render_call(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """A call as text, in which a tensor stands without its elements."""
    name = overrides.resolve_name(fn) or str(fn)
    with printing.printoptions(threshold=0, edgeitems=0):
        given = [*(repr(value) for value in args), *(f"{key}={value!r}" for key, value in kwargs.items())]
    return f"{name}({', '.join(given)})"


def get_current_device_index() -> int:
    """The index of CUDA's current device; -1 where there is none."""
    return cuda.current_device() if cuda.device_count() > 0 else -1


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index of a device, -1 for the CPU where that is allowed.

    Where nothing says it, the current one is meant if `optional`, and an error is raised if not.
    """
    if isinstance(device, str):
        device = Device(device)
    if isinstance(device, Device) and device.type == "cpu":
        if not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        return -1
    index: int | None = device if isinstance(device, int) else getattr(device, "index", None)
    if index is not None:
        return index
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return get_current_device_index()


def cpu_count() -> int | None:
    """How many of the computer's processors this program may use; None if that is unknown."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def is_compiling() -> bool:
    """Whether a program is being compiled: never. Its name is `torch.compiler.is_compiling` now."""
    warnings.warn("`torch._utils.is_compiling` is deprecated. Use `torch.compiler.is_compiling` instead.", stacklevel=2)
    return False


# Helpers of any program -----------------------------------------------------------------------------------------------


def _import_dotted_name(name: str) -> Any:
    """What a dotted name such as `package.module.name` means."""
    package, *attributes = name.split(".")
    found: Any = import_module(package)
    for attribute in attributes:
        found = getattr(found, attribute)
    return found


def try_import(module_name: str) -> ModuleType | None:
    """A module, imported now if it was not; None if there is none."""
    if module_name not in sys.modules and importlib.util.find_spec(module_name) is None:
        return None
    return import_module(module_name)


class _ClassPropertyDescriptor:
    def __init__(self, fget: Any) -> None:
        self.fget = fget

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self.fget.__get__(instance, owner or type(instance))()


def classproperty(func: Any) -> Any:
    """A decorator: a property of a class, for which no instance is needed."""
    return _ClassPropertyDescriptor(func if isinstance(func, classmethod | staticmethod) else classmethod(func))


class CallbackRegistry(Generic[P]):
    """Functions to call when something happens; what one of them raises is logged, and the others are called."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.callback_list: list[Callable[P, None]] = []

    def add_callback(self, cb: Callable[P, None]) -> None:
        """Call a function, too."""
        self.callback_list.append(cb)

    def fire_callbacks(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all functions."""
        for callback in self.callback_list:
            try:
                callback(*args, **kwargs)
            except Exception:
                logger.exception("Exception in callback for %s registered with gpu trace", self.name)


__getattr__ = refuse_unknown_names("glasstorch._utils")
