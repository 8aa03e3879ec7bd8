"""How is a tensor made again from what stands in a file?

Mirrors: torch/_utils.py (_rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter,
    _rebuild_parameter_with_state, _rebuild_meta_tensor_no_storage, _rebuild_device_tensor_from_numpy),
    torch/_tensor.py (_rebuild_from_type_v2), torch/serialization.py (_get_layout)
Differs: a geometry that does not fit its storage is refused; PyTorch lets `set_` enlarge the storage, with
    uninitialised bytes. Compressed, quantized and nested tensors are refused by name.

Files name these functions by PyTorch's paths (`names` has the list), and call them with arguments of their own. No
argument is trusted: a tensor that was made wrongly would read memory beyond its storage.
"""

from __future__ import annotations

import math
from functools import cache
from reprlib import Repr
from typing import Any, Final, NoReturn

from glasstorch._tensor import Tensor, empty_strided
from glasstorch.core import hooks, layout
from glasstorch.core.allocator import MOST
from glasstorch.core.device import META
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentError, ArgumentTypeError, NoDataError, StorageError
from glasstorch.core.geometry import Shape, contiguous_strides, span
from glasstorch.core.keys import CONJUGATE, NEGATIVE
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import sparse_coo
from glasstorch.core.sparse_parts import COMPRESSED_LAYOUTS
from glasstorch.core.storage import UntypedStorage
from glasstorch.core.typed_storage import TypedStorage
from glasstorch.nn.parameter import Parameter
from glasstorch.python_forms import pickling

BITS: Final = {"conj": CONJUGATE, "neg": NEGATIVE}
MOST_DIMENSIONS: Final = 64  # NumPy's limit

_short = Repr()
_short.maxlevel = 2
short = _short.repr  # a value of a file in a message: its whole text could be exponentially longer than the file


def tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Tensor:
    """A tensor of the storage's dtype."""
    if not isinstance(storage, TypedStorage):
        raise ArgumentTypeError(f"_rebuild_tensor: expected a storage, got {type(storage).__name__}")
    return _on_storage(storage.untyped(), storage.dtype, storage_offset, size, stride)


def tensor_v2(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """A tensor of the storage's dtype, with what is not geometry. Hooks are ignored: they are not saved."""
    return _with_facts(tensor(storage, storage_offset, size, stride), requires_grad, metadata)


def tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """A tensor of a dtype for which there is no class of storages."""
    if not isinstance(storage, TypedStorage) or not isinstance(dtype, Dtype):
        raise ArgumentTypeError(
            f"_rebuild_tensor_v3: expected a storage and a dtype, got {type(storage).__name__} and "
            f"{type(dtype).__name__}"
        )
    made = _on_storage(storage.untyped(), dtype, storage_offset, size, stride)
    return _with_facts(made, requires_grad, metadata)


def meta_tensor(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    """A tensor on the meta device, with a storage of its own."""
    if not isinstance(dtype, Dtype):
        raise ArgumentTypeError(f"_rebuild_meta_tensor_no_storage: expected a dtype, got {type(dtype).__name__}")
    shape, strides = _checked(size, stride)
    if span(shape, strides) * dtype.itemsize > MOST:
        raise StorageError(f"sizes {list(shape)} and strides {list(strides)} exceed the largest storage")
    return _with_facts(empty_strided(shape, strides, dtype, META), requires_grad, None)


def parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Parameter:
    """A parameter on the storage of a tensor."""
    if not isinstance(data, Tensor):
        raise ArgumentTypeError(f"_rebuild_parameter: expected a tensor, got {type(data).__name__}")
    return Parameter(data, requires_grad is True)


def parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Any:
    """A parameter that has attributes of its own."""
    return _with_state(parameter(data, requires_grad, backward_hooks), state)


def from_type(function: Any, cls: Any, arguments: Any, state: Any) -> Any:
    """A tensor made by another of these functions, of a subclass and with attributes of its own."""
    if all(function is not known for known in REBUILD):
        raise ArgumentError(f"_rebuild_from_type_v2: {short(function)} does not make a tensor of what was saved")
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise ArgumentTypeError(f"_rebuild_from_type_v2: expected a subclass of Tensor, got {short(cls)}")
    made = function(*arguments)
    if type(made) is not cls:
        made = made.as_subclass(cls)
    restore = getattr(cls, "__setstate__", None)
    if restore is not None:
        restore(made, state)
        return made
    return _with_state(made, state)


def device_tensor(data: Any, dtype: Any, device: Any, requires_grad: Any) -> NoReturn:
    """Refused: the tensor was on a device that is not here."""
    raise ArgumentError(
        f"the file has a tensor of {short(device)}, a device that glasstorch does not have; save it from the CPU"
    )


def sparse_tensor(layout: Any, data: Any) -> Tensor:
    """A sparse tensor of its indices, values and sizes, which are checked."""
    is_compressed = layout in COMPRESSED_LAYOUTS
    if layout is not sparse_coo and not is_compressed:
        raise NoDataError(
            f"the file has a tensor of the layout {short(layout)}, which glasstorch cannot load; save tensor.to_dense()"
        )
    tensors = 3 if is_compressed else 2
    if (
        not isinstance(data, tuple | list)
        or len(data) not in ((4,) if is_compressed else (3, 4))
        or not all(isinstance(x, Tensor) for x in data[:tensors])
    ):
        raise ArgumentTypeError(
            f"_rebuild_sparse_tensor: expected indices, values and sizes, and of a COO tensor a bool; got {short(data)}"
        )
    if is_compressed:
        *parts, size = data
        return pickling.sparse_rebuilt(layout, (*parts, _checked_sizes(size)))
    indices, values, size, *known = data
    return pickling.sparse_rebuilt(layout, (indices, values, _checked_sizes(size), bool(known and known[0])))


def _checked_sizes(size: Any) -> Shape:
    return _checked(size, [0] * len(size))[0]


def quantized_tensor(*arguments: Any) -> NoReturn:
    """Refused: there are no quantized tensors."""
    raise NoDataError(
        "the file has a quantized tensor, and glasstorch has no quantized dtypes; save tensor.dequantize()"
    )


def nested_tensor(*arguments: Any) -> NoReturn:
    """Refused: there are no nested tensors."""
    raise NoDataError("the file has a nested tensor, and glasstorch has none; save tensor.unbind()")


def wrapper_subclass(cls: Any, *arguments: Any) -> NoReturn:
    """Refused: a subclass without a storage cannot be made."""
    raise NoDataError(f"the file has a tensor without a storage, of {short(cls)}, which glasstorch cannot make")


def named_results(cls: Any, values: Any, others: Any = None) -> Any:
    """What `max` and others return. PyTorch writes a dict of further, unnamed results, which is always empty."""
    return cls(values)


def layout_of(name: Any) -> Layout:
    """The layout of a name such as `torch.strided`."""
    found = getattr(layout, name.removeprefix("torch."), None) if isinstance(name, str) else None
    if not isinstance(found, Layout):
        raise ArgumentError(f"there is no layout {short(name)}")
    return found


REBUILD = (
    *(tensor, tensor_v2, tensor_v3, meta_tensor, parameter, parameter_with_state),
    *(device_tensor, sparse_tensor, quantized_tensor, nested_tensor, wrapper_subclass),
)


def _on_storage(storage: UntypedStorage, dtype: Dtype, offset: Any, size: Any, stride: Any) -> Tensor:
    shape, strides = _checked(size, stride)
    if type(offset) is not int or offset < 0:
        raise StorageError(f"a storage_offset must be an int of 0 or more, got {short(offset)}")
    reach = span(shape, strides)
    if reach and (offset + reach) * dtype.itemsize > storage.nbytes():
        raise StorageError(
            f"setStorage: sizes {list(shape)}, strides {list(strides)}, storage offset {offset}, and itemsize "
            f"{dtype.itemsize} requiring a storage size of {(offset + reach) * dtype.itemsize} are out of bounds for "
            f"storage of size {storage.nbytes()}"
        )
    row_major = strides == contiguous_strides(shape)
    return hooks.tensor_hooks.make(storage, dtype, shape, None if row_major else strides, offset)


def _checked(size: Any, stride: Any) -> tuple[Shape, Shape]:
    """Sizes and strides that were read from a file: as many of each, none negative."""
    for values in (size, stride):
        if not isinstance(values, tuple | list) or len(values) > MOST_DIMENSIONS or not all(map(_counts, values)):
            raise StorageError(
                f"sizes and strides must be tuples of up to {MOST_DIMENSIONS} ints of 0 or more, got {short(size)} and "
                f"{short(stride)}"
            )
    if len(size) != len(stride):
        raise StorageError(f"mismatch in length of strides and shape: {list(stride)} and {list(size)}")
    if math.prod(size) > MOST or sum(stride) > MOST:
        raise StorageError(f"sizes {list(size)} or strides {list(stride)} exceed what a tensor can have")
    return tuple(size), tuple(stride)


def _counts(value: Any) -> bool:
    return type(value) is int and value >= 0


def _with_facts(made: Tensor, requires_grad: Any, metadata: Any) -> Tensor:
    if metadata:
        if not isinstance(metadata, dict):
            raise ArgumentTypeError(f"a tensor's metadata is a dict, got {short(metadata)}")
        for name, is_set in metadata.items():
            if name not in BITS or (name == "conj" and not made.dtype.is_complex):
                raise ArgumentError(f"a tensor of {made.dtype} cannot have the metadata {short(name)}")
            made.key_set |= BITS[name] if is_set else 0
    return made.requires_grad_() if requires_grad else made


def _with_state(made: Any, state: Any) -> Any:
    """Set attributes: those of the instance, or a pair of them and of what its class keeps in slots."""
    parts = state if isinstance(state, tuple) else (state,)
    if len(parts) > 2 or any(not isinstance(part, dict | None) for part in parts):
        raise ArgumentError(f"Invalid serialized state: {short(state)}")
    for part in parts:
        for name, value in (part or {}).items():
            if not isinstance(name, str) or name in _own_fields():
                raise ArgumentError(f"a saved attribute may not replace {short(name)} of a tensor")
            setattr(made, name, value)
    return made


@cache
def _own_fields() -> frozenset[str]:
    """What a tensor itself keeps under a name: its geometry, its class ..."""
    return frozenset(name for base in Tensor.__mro__ for name, field in vars(base).items() if hasattr(field, "__set__"))
