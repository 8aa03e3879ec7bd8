"""Which objects of Python does a parameter of a C++ function take?

Mirrors: pybind11/cast.h, torch/csrc/utils/pybind.h (type_caster)
Differs: a parameter's type is known by the words in which pybind11 shows it. Overloads are tried twice, as there: first
    without conversions, such as an integer for a float.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.layout import layout, memory_format

Caster = Callable[[Any, bool], Any]  # the object, and whether it may be converted; Unfit if it is not taken

LIST: Final = "collections.abc.Sequence["
INT: Final = "typing.SupportsInt | typing.SupportsIndex"
FLOAT: Final = "typing.SupportsFloat | typing.SupportsIndex"
OPTIONAL: Final = " | None"
INT64: Final = range(-(1 << 63), 1 << 63)


class Unfit(Exception):
    """A parameter does not take an object."""


def _instance(*kinds: type) -> Caster:
    def cast(value: Any, convert: bool) -> Any:
        if isinstance(value, kinds):
            return value
        raise Unfit

    return cast


def _integer(value: Any, convert: bool) -> int:
    """Whatever is an index; with `convert` also what `int` takes, but no float."""
    if not isinstance(value, float | Tensor):
        try:
            number = operator.index(value)
        except TypeError:
            if not convert or isinstance(value, str | bytes) or not hasattr(value, "__int__"):
                raise Unfit from None
            number = int(value)
        if number in INT64:
            return number
    raise Unfit


def _float(value: Any, convert: bool) -> float:
    if isinstance(value, float):
        return value
    if not convert or isinstance(value, str | bytes | Tensor):
        raise Unfit
    try:
        return float(value)
    except TypeError:
        raise Unfit from None


def _boolean(value: Any, convert: bool) -> bool:
    if isinstance(value, bool):
        return value
    if value is None and convert:
        return False
    if isinstance(value, np.bool_):
        return bool(value)
    raise Unfit


def _number(value: Any, convert: bool) -> Any:
    if isinstance(value, Tensor) and not value.dim():
        return value.item()
    return _instance(bool, int, float, complex)(value, convert)


_CASTERS: Final[dict[str, Caster]] = {
    "torch.Tensor": _instance(Tensor),
    "bool": _boolean,
    INT: _integer,
    FLOAT: _float,
    "str": _instance(str),
    "complex": lambda value, convert: complex(_instance(complex, *((int, float) if convert else ()))(value, convert)),
    "Number": _number,
    "torch.dtype": _instance(dtype),
    "torch.layout": _instance(layout),
    "torch.memory_format": _instance(memory_format),
    "torch.device": lambda value, convert: device(_instance(device, str)(value, convert)),
}


@cache
def caster(kind: str) -> Caster:
    """What takes the objects for a parameter of a type, as pybind11 shows the type."""
    if kind in _CASTERS:
        return _CASTERS[kind]
    if kind.endswith(OPTIONAL):
        inner = caster(kind.removesuffix(OPTIONAL))
        return lambda value, convert: None if value is None else inner(value, convert)
    assert kind.startswith(LIST), kind
    element = caster(kind[len(LIST) : -1])

    def cast(value: Any, convert: bool) -> list[Any]:
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            raise Unfit
        return [element(each, convert) for each in value]

    return cast
