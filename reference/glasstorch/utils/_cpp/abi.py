"""How does a value of Python look to C++, and back?

Mirrors: torch/csrc/stable/c/shim.h, torch/csrc/jit/python/pybind_utils.h (toIValue, toPyObject)
Differs: a tagged structure over buffers of plain numbers; include/glasstorch/abi.h is the other side. A tensor passes
    as a number under which Python keeps it until C++ says that it has let go.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core import layout as layouts
from glasstorch.core.device import device
from glasstorch.core.dtype import DTYPES, dtype

VERSION: Final = 1  # GLASSTORCH_ABI

NONE, TENSOR, INTEGER, REAL, BOOLEAN, COMPLEX, TEXT, INTEGERS, REALS, BOOLEANS, TENSORS = range(11)
DTYPE, LAYOUT, FORMAT, DEVICE = range(11, 15)


class _Content(ctypes.Union):
    _fields_ = [("integer", ctypes.c_int64), ("real", ctypes.c_double), ("data", ctypes.c_void_p)]


class Value(ctypes.Structure):
    """One value: its kind, how many elements it points to, and the number or the address."""

    _anonymous_ = ("content",)
    _fields_ = [("kind", ctypes.c_int64), ("count", ctypes.c_int64), ("content", _Content)]

    kind: int
    count: int
    integer: int
    real: float
    data: int | None


Values = ctypes.POINTER(Value)
RECEIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, Values, ctypes.c_int64)
ASK = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, Values, ctypes.c_int64, ctypes.c_void_p, RECEIVE)

_DTYPES: Final = {each.scalar_type: each for each in DTYPES}
tensors: Final[dict[int, Tensor]] = {}  # those that C++ holds, by the number of the handle
_numbers = count(1)


def handle_of(tensor: Tensor | None) -> int:
    """A new handle of a tensor, whose receiver becomes an owner; 0 for none."""
    if tensor is None:
        return 0
    number = next(_numbers)
    tensors[number] = tensor
    return number


def packed(values: Sequence[Any]) -> tuple[ctypes.Array[Value], list[Any]]:
    """Values as C++ reads them, and the buffers that they point to."""
    slots = (Value * len(values))()
    held: list[Any] = []
    for slot, value in zip(slots, values, strict=True):
        _pack(slot, value, held)
    return slots, held


def _pack(slot: Value, value: Any, held: list[Any]) -> None:
    match value:
        case None:
            slot.kind = NONE
        case Tensor():
            slot.kind, slot.integer = TENSOR, handle_of(value)
        case bool():
            slot.kind, slot.integer = BOOLEAN, value
        case int():
            slot.kind, slot.integer = INTEGER, int(value)
        case float():
            slot.kind, slot.real = REAL, value
        case complex():
            _point(slot, COMPLEX, (ctypes.c_double * 2)(value.real, value.imag), held)
        case str():
            _text(slot, TEXT, value, held)
        case dtype():
            slot.kind, slot.integer = DTYPE, value.scalar_type
        case device():
            _text(slot, DEVICE, str(value), held)
        case layouts.layout():
            _text(slot, LAYOUT, value.name, held)
        case layouts.memory_format():
            _text(slot, FORMAT, value.name, held)
        case list() | tuple():
            kind, element, elements = _list(value)
            _point(slot, kind, (element * len(elements))(*elements), held)
        case _:
            raise TypeError(f"a {type(value).__name__} cannot be passed to C++ code: {value!r}")


def _list(value: Sequence[Any]) -> tuple[int, type[Any], Sequence[Any]]:
    """The kind of a list, the type of C of its elements, and these."""
    kinds = set(map(type, value))
    if kinds <= {int}:  # an empty list, too: it passes for each
        return INTEGERS, ctypes.c_int64, value
    if kinds == {bool}:
        return BOOLEANS, ctypes.c_uint8, value
    if all(isinstance(each, Tensor | None) for each in value):
        return TENSORS, ctypes.c_int64, [handle_of(each) for each in value]
    if all(isinstance(each, int) for each in value):
        return INTEGERS, ctypes.c_int64, [int(each) for each in value]
    if all(isinstance(each, int | float) for each in value):
        return REALS, ctypes.c_double, value
    names = sorted(kind.__name__ for kind in kinds)
    raise TypeError(f"a list of {' and '.join(names)} cannot be passed to C++ code: {value!r}")


def _text(slot: Value, kind: int, text: str, held: list[Any]) -> None:
    encoded = text.encode()
    _point(slot, kind, (ctypes.c_char * len(encoded)).from_buffer_copy(encoded), held)


def _point(slot: Value, kind: int, buffer: Any, held: list[Any]) -> None:
    slot.kind, slot.count, slot.data = kind, len(buffer), ctypes.addressof(buffer)
    held.append(buffer)


def unpacked(values: Any, length: int) -> list[Any]:
    """Values that C++ hands over, copied."""
    return [_UNPACK[values[i].kind](values[i]) for i in range(length)]


def _elements(element: type[Any], convert: Callable[[Any], Any] | None = None) -> Callable[[Value], list[Any]]:
    def unpack(value: Value) -> list[Any]:
        found = (element * value.count).from_address(value.data)[:] if value.count and value.data else []
        return list(found) if convert is None else [convert(each) for each in found]

    return unpack


def _string(value: Value) -> str:
    return ctypes.string_at(value.data, value.count).decode(errors="replace") if value.data else ""


_UNPACK: Final[dict[int, Callable[[Value], Any]]] = {
    NONE: lambda value: None,
    TENSOR: lambda value: tensors.get(value.integer),
    INTEGER: lambda value: value.integer,
    REAL: lambda value: value.real,
    BOOLEAN: lambda value: bool(value.integer),
    COMPLEX: lambda value: complex(*_elements(ctypes.c_double)(value)),
    TEXT: _string,
    INTEGERS: _elements(ctypes.c_int64),
    REALS: _elements(ctypes.c_double),
    BOOLEANS: _elements(ctypes.c_uint8, bool),
    TENSORS: _elements(ctypes.c_int64, tensors.get),
    DTYPE: lambda value: _DTYPES[value.integer],
    LAYOUT: lambda value: getattr(layouts, _string(value)),
    FORMAT: lambda value: getattr(layouts, _string(value)),
    DEVICE: lambda value: device(_string(value)),
}
