"""What does a Python number become as an element of a dtype?

Mirrors: c10/core/Scalar.h (Scalar::to), c10/util/TypeCast.h (overflows, checked_convert)
"""

from __future__ import annotations

import math
from typing import Final

import ml_dtypes
import numpy as np

from glasstorch.core.dtype import (
    BOOL,
    COMPLEX,
    DTYPES,
    INTEGRAL,
    Number,
    check_fits,
    dtype,
    float8_e4m3fn,
)
from glasstorch.core.errors import DtypeError
from glasstorch.core.symbols import is_symbol
from glasstorch.operators.shapes.result import C_NAMES

# `checked_convert` has its own names for some types.
CHECKED_NAMES: Final = C_NAMES | {
    name: f"{name}_t" for name in ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int64")
}

# The largest finite value of each dtype; for complex dtypes, of their parts.
LARGEST: Final[dict[dtype, int | float]] = {
    d: int(np.iinfo(d.numpy).max) if d.category == INTEGRAL else float(ml_dtypes.finfo(d.to_real().numpy).max)  # type: ignore[no-untyped-call]
    for d in DTYPES
    if d.category != BOOL
}


def number_as(value: Number, target: dtype) -> Number:
    """The Python number as an element of the dtype; refused if the dtype cannot hold it.

    An integer dtype truncates floats; an unsigned one wraps negative ints around.

    >>> from glasstorch.core.dtype import float16, int64, uint8
    >>> number_as(2.7, int64), number_as(-1, uint8), number_as(3, float16)
    (2, 255, 3.0)
    """
    if type(value) is int:
        check_fits(value)
    elif is_symbol(value):  # whatever it will be
        return value
    if target.category == BOOL:
        return bool(value)
    largest = LARGEST[target]
    if target.category == COMPLEX:
        value = complex(value)
        if _fits_float(value.real, largest) and _fits_float(value.imag, largest):
            return value
        raise _overflow(target)
    if isinstance(value, complex):
        if value.imag != 0:
            raise _overflow(target)
        value = value.real
    if target.is_floating_point:
        value = float(value)
        if _fits_float(value, largest) and not (math.isinf(value) and target is float8_e4m3fn):  # which has no infinity
            return value
    elif target.is_signed:
        if -largest - 1 <= value <= largest:
            return int(value)
    elif (0 if isinstance(value, float) else -largest) <= value <= largest:
        return int(value) % int(largest + 1)
    raise _overflow(target)


def _fits_float(value: float, largest: float) -> bool:
    return abs(value) <= largest or not math.isfinite(value)


def _overflow(target: dtype) -> DtypeError:
    return DtypeError(f"value cannot be converted to type {CHECKED_NAMES[target.name]} without overflow")
