"""How is a Python value converted to the type of a schema parameter?

Mirrors: torch/csrc/utils/python_arg_parser.{h,cpp} (FunctionParameter::check, PythonArgs::scalar_slow, intlist)
Differs: checking and converting a value are one step, which returns REFUSED for a value of the wrong type.
"""

from __future__ import annotations

import operator as builtin_operators
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from glasstorch.core import hooks
from glasstorch.core.device import device, device_from
from glasstorch.core.dtype import INTEGRAL, bool_, complex128, dtype, float64, int64
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.geometry import Size
from glasstorch.core.keys import WRAPPED
from glasstorch.core.layout import layout, memory_format
from glasstorch.core.plain_types import PLAIN
from glasstorch.core.random.generator import Generator
from glasstorch.core.symbols import SYMBOLS, SymBool, SymFloat, SymInt
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.core.typed_storage import is_storage
from glasstorch.dispatch.schema import Type

NUMBERS = frozenset((bool, int, float, complex))
LISTS = frozenset((list, tuple, Size))
INT = frozenset((int,))
PYTHON_TYPES = {float: float64, int: int64, bool: bool_, complex: complex128}
REFUSED = object()  # what a conversion returns for a value that it does not accept


def is_ints(value: object) -> TypeGuard[Sequence[int]]:
    """Whether a value is a list of plain ints, which needs no conversion."""
    return type(value) in LISTS and INT.issuperset(map(type, value))  # type: ignore[call-overload]


def is_tensors(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list of plain tensors, which needs no conversion, and no mode is on."""
    return type(value) in LISTS and bool(PLAIN) and PLAIN.issuperset(map(type, value))  # type: ignore[call-overload]


def _as_index(value: Any) -> int | None:
    """A Python or NumPy int, or a 0-dim integer tensor, as an int. bool is not accepted."""
    if type(value) is int:
        return value
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, TensorImpl):
        if value._shape or value.dtype.category != INTEGRAL:
            return None
        return int(value.host_array())
    if isinstance(value, SymInt):
        return value  # type: ignore[return-value]  # a symbol: shape functions compute with it
    try:
        return builtin_operators.index(value)
    except TypeError:
        return None


def size_of(value: Any, position: int) -> int | None:
    """An int in a list: also a one-element tensor and, except in first position, a bool.

    Mirrors: is_int_or_symint_list and intlistWithDefault in torch/csrc/utils/python_arg_parser.{cpp,h}
    """
    if position and type(value) is bool:
        return int(value)
    if isinstance(value, TensorImpl) and value.dtype.category == INTEGRAL and all(n == 1 for n in value._shape):
        return int(value.host_array().item())
    return _as_index(value)


def sizes_of(values: Sequence[Any]) -> list[int] | None:
    """The ints of a list argument; None if one of the values is not an int."""
    sizes = [size_of(value, position) for position, value in enumerate(values)]
    return None if None in sizes else sizes  # type: ignore[return-value]


def _tensor(value: Any) -> Any:
    return value if isinstance(value, TensorImpl) else REFUSED


class UnreadableError(ArgumentTypeError):
    """A tensor stands where a number is expected, and its element cannot be read: another overload may take it."""


def _scalar(value: Any) -> Any:
    if type(value) in NUMBERS:
        return value
    if isinstance(value, int):  # of a subclass
        return int(value)
    if isinstance(value, float):  # such as NumPy's
        return float(value)
    if isinstance(value, complex):
        return complex(value)
    if isinstance(value, np.bool_ | np.complexfloating):
        return float(value)  # as in PyTorch; NumPy warns about the dropped imaginary part
    if isinstance(value, np.number):
        return value.item()
    if isinstance(value, TensorImpl) and not (value._shape or value.key_set & WRAPPED or _requires_grad(value)):
        try:
            return value.host_array().item()
        except ArgumentTypeError as error:
            raise UnreadableError(str(error)) from None
    return value if isinstance(value, SYMBOLS) else REFUSED


def _requires_grad(tensor: TensorImpl) -> bool:
    return bool(getattr(tensor, "requires_grad", False))


def _int(value: Any) -> Any:
    index = _as_index(value)
    return REFUSED if index is None else index


def _float(value: Any) -> Any:
    number = _scalar(value)
    if isinstance(number, SymInt | SymFloat):
        return number.__sym_float__()
    return REFUSED if number is REFUSED or isinstance(number, complex) else float(number)


def _bool(value: Any) -> Any:
    if type(value) is bool:
        return value
    return bool(value) if isinstance(value, np.bool_ | SymBool) else REFUSED


def _instance(kind: type) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kind) else REFUSED


def dtype_of(value: Any) -> Any:
    if isinstance(value, dtype):
        return value
    return PYTHON_TYPES.get(value, REFUSED) if isinstance(value, type) else REFUSED


def device_of(value: Any) -> Any:
    if isinstance(value, device):
        return value
    if isinstance(value, str):
        return device_from(value)
    return device_from("cuda", value) if type(value) is int else REFUSED


def _storage(value: Any) -> Any:
    return value if is_storage(value) else REFUSED


CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "Tensor": _tensor,
    "Scalar": _scalar,
    "int": _int,
    "SymInt": _int,
    "float": _float,
    "bool": _bool,
    "str": _instance(str),
    "ScalarType": dtype_of,
    "Device": device_of,
    "Layout": _instance(layout),
    "MemoryFormat": _instance(memory_format),
    "Generator": _instance(Generator),
    "Storage": _storage,
}


def converter(kind: Type, numbers_as_tensors: bool) -> Callable[[Any], Any]:
    """The converter of one parameter, which returns the value or REFUSED."""
    one = CONVERSIONS[kind.base]
    if kind.is_list:
        convert = _list_converter(kind, one)
    elif kind.base == "Tensor" and numbers_as_tensors:
        convert = _tensor_or_number
    else:
        convert = one
    if not kind.is_optional:
        return convert
    return lambda value: None if value is None else convert(value)


def _tensor_or_number(value: Any) -> Any:
    if isinstance(value, TensorImpl):
        return value
    if isinstance(value, bool | int | float | complex | np.number | np.bool_ | SymInt | SymFloat | SymBool):
        return hooks.tensor_hooks.wrapped_number(_scalar(value))
    return REFUSED


def _list_converter(kind: Type, one: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The converter of a list; a single int is repeated to the fixed length, if there is one."""
    size = kind.list_size
    single = size if kind.base != "Tensor" else None
    optional_elements = kind.suffixes[0] == "?"
    ints = kind.base in ("int", "SymInt")

    def convert(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            if single is None:
                return REFUSED
            element = one(value)
            return REFUSED if element is REFUSED else [element] * single
        if ints:
            return REFUSED if (sizes := sizes_of(value)) is None else sizes
        elements = [None if v is None and optional_elements else one(v) for v in value]
        return REFUSED if any(e is REFUSED for e in elements) else elements

    return convert
