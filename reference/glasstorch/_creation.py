"""How does data from outside, Python's or NumPy's, become a tensor?

Mirrors: torch/csrc/utils/tensor_new.cpp (internal_new_from_data, infer_scalar_type, compute_sizes), tensor_numpy.cpp,
    torch/functional.py (broadcast_tensors)
Differs: nested lists are flattened one level at a time and handed to NumPy whole, not stored one number at a time.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, from_array, wrap
from glasstorch.core import hooks
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import (
    BOOL,
    HALF_PRECISION,
    INTEGRAL,
    bool_,
    dtype_of_number,
    from_numpy_dtype,
    get_default_dtype,
    int64,
    promote_types,
    uint8,
)
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError, DtypeError
from glasstorch.core.geometry import Shape, Size
from glasstorch.core.geometry import broadcast_shapes as broadcast
from glasstorch.core.tensor_impl import Array, TensorImpl

__all__ = [
    "as_tensor",
    "asarray",
    "broadcast_shapes",
    "broadcast_tensors",
    "from_numpy",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_tensor",
    "numel",
    "tensor",
]

MAX_DIMENSIONS = 64  # of a NumPy array; a list nested deeper than that contains itself


def tensor(
    data: Any,
    *,
    dtype: Dtype | type | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A new tensor with the elements of nested lists, numbers, an array or a tensor. The data is always copied.

    Without `dtype` an array keeps its own, Python floats become the default dtype, ints int64 and bools bool.

    >>> tensor([[1, 2], [3, 4.5]]).dtype
    torch.float32
    """
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.made_from_data("torch.tensor")
    if isinstance(data, TensorImpl):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    result = _copied(data, _dtype(dtype))
    return _finished(result.pin_memory() if pin_memory else result, device, requires_grad)


def as_tensor(data: Any, dtype: Dtype | type | None = None, device: Device | str | None = None) -> Tensor:
    """The data as a tensor: a tensor itself, an array's memory shared, anything else copied."""
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.made_from_data("torch.as_tensor")
    wanted = _dtype(dtype)
    if isinstance(data, Tensor):
        result = data
    elif isinstance(data, np.ndarray):
        result = from_numpy(data)
    else:
        return _finished(_copied(data, wanted), device, False)
    result = result if wanted is None else result.to(wanted)
    return result if device is None else result.to(device)


def asarray(
    obj: Any,
    *,
    dtype: Dtype | type | None = None,
    device: Device | str | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """As `as_tensor`; `copy` says whether memory must (True), may (None) or must not (False) be copied."""
    if copy:
        source = _copied(obj, _dtype(dtype))
        return _finished(source, device, requires_grad)
    result = as_tensor(obj, dtype, device)
    shared = isinstance(obj, Tensor | np.ndarray) and _share_memory(result, obj)
    if copy is False and not shared:
        raise ArgumentValueError(f"can't alias arbitrary sequence or convert {type(obj).__name__} without a copy")
    if requires_grad:
        return result.requires_grad_() if result.is_leaf else result
    return result.detach() if result.requires_grad else result


def _share_memory(result: Tensor, obj: Tensor | Array) -> bool:
    """Whether a tensor looks at the memory of the tensor or array that it was made from."""
    if isinstance(obj, Tensor):
        return result.untyped_storage() is obj.untyped_storage()
    return result.device.type == "cpu" and np.may_share_memory(result.detach().array(), obj)


def from_numpy(ndarray: Array) -> Tensor:
    """A tensor over an array's memory: writing to one is seen by the other."""
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.made_from_data("torch.from_numpy")
    if not isinstance(ndarray, np.ndarray):
        raise ArgumentTypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    if not ndarray.dtype.isnative:
        raise ArgumentValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders "
            "is currently not supported."
        )
    dtype = from_numpy_dtype(ndarray.dtype)
    if any(step < 0 for step in ndarray.strides):
        raise ArgumentValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  "
            "with array.copy().) "
        )
    if any(step % dtype.itemsize for step in ndarray.strides):
        raise ArgumentValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate "
            "the memory."
        )
    if not ndarray.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
            "data or make it writable before converting it to a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return from_array(np.asarray(ndarray), dtype)


def _dtype(given: Dtype | type | None) -> Dtype | None:
    """A dtype, also from one of Python's types."""
    if given is None or isinstance(given, Dtype):
        return given
    python = {float: get_default_dtype(), int: int64, bool: bool_}
    if given in python:
        return python[given]
    raise ArgumentTypeError(f"tensor(): argument 'dtype' must be torch.dtype, not {type(given).__name__}")


def _finished(result: Tensor, device: Device | str | None, requires_grad: bool) -> Tensor:
    if device is not None:
        result = result.to(device)
    return result.requires_grad_() if requires_grad else result


def _copied(data: Any, dtype: Dtype | None) -> Tensor:
    """A fresh tensor of the data, in a dtype or in the one that the data has."""
    if isinstance(data, Tensor):
        return data.detach().to(data.dtype if dtype is None else dtype, copy=True)
    if isinstance(data, np.ndarray):
        result = from_numpy(data)
        return result.to(result.dtype if dtype is None else dtype, copy=True)
    shape, elements = _flattened(data)
    inferred = _inferred(elements)
    return wrap(_stored(elements, inferred if dtype is None else dtype).reshape(shape), dtype or inferred)


# Nested sequences -----------------------------------------------------------------------------------------------


def _flattened(data: Any) -> tuple[Shape, list[Any]]:
    """The sizes of nested sequences, read off the first element at each depth, and all elements in a flat list."""
    shape: list[int] = []
    level = [data]
    while level and _is_sequence(level[0]):
        length = len(level[0])
        for part in level:
            if not _is_sequence(part):
                raise ArgumentTypeError(
                    f"not a sequence: {type(part).__name__} at dim {len(shape)}, beside a sequence of length {length}"
                )
            if len(part) != length:
                raise ArgumentValueError(f"expected sequence of length {length} at dim {len(shape)} (got {len(part)})")
        shape.append(length)
        if len(shape) > MAX_DIMENSIONS:
            raise ArgumentValueError(f"too many dimensions '{type(data).__name__}'")
        level = list(chain.from_iterable(level))
    return tuple(shape), level


def _is_sequence(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return True
    if isinstance(value, TensorImpl | np.ndarray):
        return bool(value.ndim)
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _inferred(elements: list[Any]) -> Dtype:
    """The dtype that the elements' own promote to; the default dtype where there are none."""
    if not elements:
        return get_default_dtype()
    result: Dtype | None = None
    for kind in set(map(type, elements)):
        for own in _own_dtypes(kind, elements):
            result = own if result is None else promote_types(result, own)
    assert result is not None
    return result


def _own_dtypes(kind: type, elements: list[Any]) -> list[Dtype]:
    """The dtypes of all elements of one Python type."""
    if issubclass(kind, np.generic):
        return [from_numpy_dtype(np.dtype(kind))]
    if issubclass(kind, bool | int | float):
        return [dtype_of_number(kind())]
    if issubclass(kind, TensorImpl | np.ndarray):
        same = [e for e in elements if type(e) is kind]
        return [e.dtype if isinstance(e, TensorImpl) else from_numpy_dtype(e.dtype) for e in same]
    if issubclass(kind, str):
        raise ArgumentTypeError("new(): invalid data type 'str'")
    if issubclass(kind, Sequence):
        raise ArgumentTypeError(f"'{kind.__name__}' object cannot be interpreted as a number, as those beside it are")
    raise DtypeError(
        f"Could not infer dtype of {kind.__name__}; expected numbers, tensors, arrays, or sequences of them"
    )


def _stored(elements: list[Any], dtype: Dtype) -> Array:
    """The elements as a flat array."""
    elements = [e.item() if isinstance(e, Tensor) else e for e in elements]
    if dtype.category == BOOL:
        return np.array([bool(e) for e in elements], np.bool_)
    if dtype.category == INTEGRAL:
        return _stored_integers(elements, dtype)
    with np.errstate(over="ignore"):
        try:
            wide = np.array(elements, np.float64)
        except (TypeError, ValueError) as error:
            raise ArgumentTypeError(f"must be real numbers, for a {dtype} tensor: {error}") from None
        if dtype in HALF_PRECISION:
            wide = wide.astype(np.float32)
        return wide.astype(dtype.numpy, copy=False)


def _stored_integers(elements: list[Any], dtype: Dtype) -> Array:
    """As `_stored`; refuses numbers outside the range, but lets negative ones wrap around in uint8."""
    try:
        wide = np.array([int(e) if isinstance(e, float | np.floating) else e for e in elements], np.int64)
    except TypeError as error:
        raise ArgumentTypeError(f"must be whole numbers, for a {dtype} tensor: {error}") from None
    except (OverflowError, ValueError):
        if all(isinstance(e, int) for e in elements):
            raise ArgumentValueError("Overflow when unpacking long long: an int lies outside [-2**63, 2**63)") from None
        raise DtypeError(f"value cannot be converted to type {dtype.name} without overflow") from None
    limits = np.iinfo(dtype.numpy)
    least = -limits.max if dtype is uint8 else limits.min
    if wide.size and not (least <= wide.min() and wide.max() <= limits.max):
        raise DtypeError(f"value cannot be converted to type {dtype.name} without overflow")
    return wide.astype(dtype.numpy)


# Facts ----------------------------------------------------------------------------------------------------------


def is_tensor(obj: Any) -> bool:
    """Whether the object is a Tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating point one."""
    return _tensor("is_floating_point", input).dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return _tensor("is_complex", input).dtype.is_complex


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not 0."""
    return bool(_tensor("is_nonzero", input))


def numel(input: Tensor) -> int:
    """The number of elements."""
    return _tensor("numel", input).numel()


def _tensor(function: str, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    raise ArgumentTypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}")


# Broadcasting ---------------------------------------------------------------------------------------------------


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors as views of one shape, that which they broadcast to."""
    for i, value in enumerate(tensors):
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(f"expected Tensor as element {i} in argument 0, but got {type(value).__name__}")
    shape = broadcast(*(value._shape for value in tensors))
    return tuple(value.expand(shape) for value in tensors)


def broadcast_shapes(*shapes: Sequence[int] | int) -> Size:
    """The shape that tensors of these shapes broadcast to."""
    return Size(broadcast(*((shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes)))
