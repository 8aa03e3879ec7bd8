"""How do numbers and nested sequences of numbers become an array?

Mirrors: torch/csrc/utils/tensor_new.cpp (compute_sizes, infer_scalar_type, recursive_store),
    torch/csrc/utils/python_scalars.h (store_scalar)
Differs: the sequences are flattened one level at a time and handed to NumPy whole, not stored one number at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import reduce
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from glasstorch.core import hooks
from glasstorch.core.dtype import (
    BOOL,
    COMPLEX,
    FLOAT8,
    FLOATING,
    HALF_PRECISION,
    INTEGRAL,
    STORED_ONLY,
    complex128,
    dtype,
    dtype_of_number,
    float8_e4m3fn,
    float32,
    float64,
    from_numpy_dtype,
    get_default_dtype,
    promote_types,
    uint64,
)
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError, DtypeError
from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array, TensorImpl
from glasstorch.core.warn_once import warn_once
from glasstorch.operators.shapes.scalars import number_as

MAX_DIMENSIONS = 64  # dimensions of a NumPy array; a list nested deeper than that contains itself

MADE_BY_CLASS = 1 << 9  # Py_TPFLAGS_HEAPTYPE

PYTHON_NUMBERS = frozenset((bool, int, float, complex))
WHOLE = frozenset((bool, int))

CATEGORY = attrgetter("category")


def array_of(data: Any, wanted: dtype | None = None) -> tuple[Array, dtype]:
    """The elements of nested sequences, or one number, as a fresh row-major array, and the dtype.

    Without a given dtype it is the promoted dtype of all elements; the default dtype if there are none. The first
    element at each depth determines the sizes; a tensor inside a sequence stands for its only element.
    """
    if isinstance(data, str | bytes):
        raise ArgumentTypeError(f"new(): invalid data type '{type_name(type(data))}'")
    if type(data) is float:
        target = get_default_dtype() if wanted is None else wanted
        if target is float64 or (target is float32 and -1e38 < data < 1e38):  # other dtypes need careful rounding
            return np.array(data, target.numpy), target
    shape = _sizes(data, may_be_bytes=wanted is not None)
    if 0 in shape:  # elements beside an empty sequence only contribute their dtype
        found = inferred(data) if wanted is None else wanted
        return np.empty(shape, found.numpy), found
    arrays = _arrays(data, shape)
    if arrays is not None:
        stacked = np.stack(arrays)
        own = from_numpy_dtype(stacked.dtype) if wanted is None else wanted
        widened = own.category > INTEGRAL and (own.is_complex or stacked.dtype.kind != "c")
        if widened or (own.numpy == stacked.dtype and own is not uint64):
            return narrowed(stacked, own), own
    try:
        elements = _flattened(data, shape)
    except (ArgumentTypeError, ArgumentValueError):
        if wanted is None:
            inferred(data)  # non-numbers are reported before ragged lengths
        raise
    found = _common(elements, data) if wanted is None else wanted
    return _stored(elements, found).reshape(shape), found


# Sizes ----------------------------------------------------------------------------------------------------------


def is_sequence(value: Any) -> bool:
    """Whether a value has elements. A tensor inside a sequence counts as a number."""
    kind = type(value)
    if kind is list or kind is tuple:
        return True
    if kind in PYTHON_NUMBERS or isinstance(value, TensorImpl | np.generic | dict):
        return False
    return defines(kind, "__getitem__") and defines(kind, "__len__")


def defines(kind: type, method: str) -> bool:
    """Whether instances of a class have a method; `hasattr(kind, ...)` would also find methods of the metaclass.

    A member of an Enum has no elements, though its class has.
    """
    return any(method in vars(base) for base in kind.__mro__)


def _sizes(data: Any, may_be_bytes: bool) -> Shape:
    """The lengths of the sequence, of its first element, of that element's first element, and so on."""
    sizes: list[int] = []
    while is_sequence(data):
        length = len(data)
        sizes.append(length)
        if len(sizes) > MAX_DIMENSIONS or (isinstance(data, str) and len(sizes) > 1):
            raise ArgumentValueError(f"too many dimensions '{type(data).__name__}'")
        if isinstance(data, bytes) and not may_be_bytes:
            raise ArgumentTypeError("new(): invalid data type 'bytes'")
        if not length or isinstance(data, str):
            break
        try:
            data = data[0]
        except (LookupError, TypeError):
            kind = type(data).__name__
            raise ArgumentValueError(f"could not determine the shape of object type '{kind}'") from None
    return tuple(sizes)


def _flattened(data: Any, shape: Shape) -> list[Any]:
    """All elements in row-major order; ragged sequences are refused."""
    if len(shape) == 1:
        return list(data)
    level = [data]
    for depth, length in enumerate(shape):
        for part in level:
            if not (is_sequence(part) or (isinstance(part, TensorImpl) and part._shape)):
                raise ArgumentTypeError(
                    f"not a sequence: {type(part).__name__} at dim {depth}, beside a sequence of length {length}"
                )
            if len(part) != length:
                raise ArgumentValueError(f"expected sequence of length {length} at dim {depth} (got {len(part)})")
        level = list(chain.from_iterable(level))
    return level


def _arrays(data: Any, shape: Shape) -> list[Array] | None:
    """The arrays of a list that contains only arrays of one shape and dtype."""
    if not (isinstance(data, list | tuple) and isinstance(data[0], np.ndarray)):
        return None
    warn_once(
        "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to a "
        "single numpy.ndarray with numpy.array() before converting to a tensor."
    )
    alike = all(isinstance(a, np.ndarray) and a.shape == shape[1:] and a.dtype == data[0].dtype for a in data)
    return list(data) if alike and data[0].ndim else None


# dtypes ---------------------------------------------------------------------------------------------------------


def inferred(data: Any) -> dtype:
    """The dtype of a number, or the dtype that the elements of nested sequences promote to, in order."""
    if not is_sequence(data) or isinstance(data, str | bytes):
        return _own_dtypes(type(data), (data,))[0]
    if isinstance(data, np.ndarray):
        return from_numpy_dtype(data.dtype)
    result: dtype | None = None
    for element in data:
        own = inferred(element)
        result = own if result is None else promote_types(result, own)
        if result is complex128:  # the highest dtype, at which PyTorch stops
            break
    return get_default_dtype() if result is None else result


def _common(elements: list[Any], data: Any) -> dtype:
    """As `inferred(data)` for these elements; each type is examined once if the order does not matter."""
    kinds = set(map(type, elements))
    if kinds <= PYTHON_NUMBERS:
        return max((dtype_of_number(kind()) for kind in kinds), key=CATEGORY)
    dtypes = {own for kind in kinds for own in _own_dtypes(kind, elements)}
    return inferred(data) if dtypes & STORED_ONLY else reduce(promote_types, dtypes)


def _own_dtypes(kind: Any, elements: Iterable[Any]) -> list[dtype]:
    """The dtypes of all elements of one Python type."""
    if issubclass(kind, str | bytes):
        raise ArgumentTypeError(f"new(): invalid data type '{type_name(kind)}'")
    if issubclass(kind, np.generic):
        return [from_numpy_dtype(np.dtype(kind))]
    for base in (bool, int, float, complex):
        if issubclass(kind, base):
            return [dtype_of_number(base())]
    same = [e for e in elements if type(e) is kind]
    if issubclass(kind, TensorImpl):
        return [e.dtype for e in same]
    if is_sequence(same[0]):
        return [inferred(e) for e in same]
    raise DtypeError(
        f"Could not infer dtype of {type_name(kind)}; expected numbers, tensors, arrays, or sequences of them"
    )


def type_name(kind: type) -> str:
    """A type's `tp_name`: that of a type not written in Python includes its module."""
    plain = kind.__flags__ & MADE_BY_CLASS or kind.__module__ == "builtins"
    return kind.__name__ if plain else f"{kind.__module__}.{kind.__name__}"


# Storing --------------------------------------------------------------------------------------------------------


def _stored(elements: list[Any], target: dtype) -> Array:
    """The elements as a flat array of a dtype."""
    kinds = set(map(type, elements))
    if target.category == INTEGRAL:
        if kinds <= WHOLE and target is not uint64:
            return _whole(elements, target)
        take = _take_unsigned_64 if target is uint64 else _take_whole
        return np.array([take(e, target) for e in elements], target.numpy)
    if kinds <= PYTHON_NUMBERS and (complex not in kinds or target.is_complex or target.category == BOOL):
        numbers = elements
    else:
        numbers = [TAKE[target.category](e) for e in elements]
    if target.category == BOOL:
        return np.array([bool(n) for n in numbers], np.bool_)
    return narrowed(np.array(numbers, np.complex128 if target.is_complex else np.float64), target)


def narrowed(array: Array, target: dtype) -> Array:
    """A fresh array of a dtype, rounded and truncated as in C; a number too large for a float becomes infinite."""
    if target is float64:
        return array.astype(np.float64)
    with np.errstate(all="ignore"):
        if target in HALF_PRECISION or target in FLOAT8:
            array = array.astype(np.float32)  # the narrow floats are reached through float32
        if target is float8_e4m3fn:
            array = np.clip(array, -448, 448)  # this dtype has no infinity
        return array.astype(target.numpy)


def _whole(elements: list[int], target: dtype) -> Array:
    """Python ints as an array; those outside the dtype are refused, but negative ones wrap around if unsigned."""
    try:
        wide = np.array(elements, np.int64)
    except OverflowError:
        raise ArgumentValueError("Overflow when unpacking long long: an int lies outside [-2**63, 2**63)") from None
    limits = np.iinfo(target.numpy)
    least = limits.min if target.is_signed else -int(limits.max)
    if wide.size and not (least <= int(wide.min()) and int(wide.max()) <= limits.max):
        raise _overflow(target)
    return wide.astype(target.numpy)


def _overflow(target: dtype) -> DtypeError:
    return DtypeError(f"value cannot be converted to type {target.name} without overflow")


def _take_whole(value: Any, target: dtype) -> int:
    """One element as an int of the dtype."""
    if not isinstance(value, float):
        value = _index(value)
        if not -(1 << 63) <= value < 1 << 63:
            raise ArgumentValueError("Overflow when unpacking long long: an int lies outside [-2**63, 2**63)")
    try:
        return int(number_as(value, target).real)
    except DtypeError:
        raise _overflow(target) from None


def _take_unsigned_64(value: Any, target: dtype) -> int:
    """One element as an int for uint64, which accepts only Python ints and never wraps around."""
    if not isinstance(value, int):
        raise ArgumentTypeError(f"an integer is required, for a {target} tensor; got {type(value).__name__}")
    if value < 0:
        raise OverflowError("can't convert negative int to unsigned")
    if value >= 1 << 64:
        raise OverflowError("int too big to convert")
    return value


def _index(value: Any) -> int:
    if isinstance(value, TensorImpl):
        if math.prod(value._shape) != 1 or value.dtype.category > INTEGRAL:
            raise ArgumentTypeError("only integer tensors of a single element can be converted to an index")
        return int(value.host_array().item())
    try:
        return int(value.__index__())
    except AttributeError:
        raise ArgumentTypeError(f"'{type_name(type(value))}' object cannot be interpreted as an integer") from None


def _take_real(value: Any) -> float:
    """One element as a float."""
    if isinstance(value, TensorImpl):
        return float(number_as(_item(value), float64).real)
    plain_complex = isinstance(value, complex) and not isinstance(value, np.generic)  # NumPy warns and truncates
    if plain_complex or not hasattr(type(value), "__float__"):
        if hasattr(type(value), "__index__"):
            return float(value.__index__())
        raise ArgumentTypeError(f"must be real number, not {type_name(type(value))}")
    return float(value)


def _take_complex(value: Any) -> complex:
    """One element as a complex number."""
    if isinstance(value, TensorImpl):
        return complex(_item(value))
    return complex(value) if hasattr(type(value), "__complex__") else complex(_take_real(value))


def _take_bool(value: Any) -> bool:
    """Whether one element is not 0."""
    return bool(value) if isinstance(value, bool | int | float | complex | np.bool_) else bool(_index(value))


TAKE: dict[int, Callable[[Any], Any]] = {BOOL: _take_bool, FLOATING: _take_real, COMPLEX: _take_complex}


def _item(value: TensorImpl) -> Any:
    if math.prod(value._shape) != 1:
        raise ArgumentValueError("only one element tensors can be converted to Python scalars")
    hooks.variable_hooks.becomes_number(value)
    number = value.host_array().item()
    return number if type(number) in PYTHON_NUMBERS else float(number)
