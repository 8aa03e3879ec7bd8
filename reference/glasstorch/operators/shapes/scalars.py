"""What does a Python number become as an element of a dtype?

Mirrors: c10/core/Scalar.h (Scalar::to), c10/util/TypeCast.h (overflows, checked_convert)
Differs: nothing in substance.
"""

from __future__ import annotations

import math
from typing import Final

from glasstorch.core.dtype import (
    BOOL,
    Number,
    bfloat16,
    dtype,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint8,
)
from glasstorch.core.errors import DtypeError
from glasstorch.operators.shapes.result import C_NAMES

# `checked_convert` has names of its own for two types.
CHECKED_NAMES: Final = C_NAMES | {"uint8": "uint8_t", "int64": "int64_t"}

LARGEST: Final[dict[dtype, int | float]] = {
    uint8: 2**8 - 1,
    int32: 2**31 - 1,
    int64: 2**63 - 1,
    float16: 65504.0,
    bfloat16: float.fromhex("0x1.fep127"),
    float32: float.fromhex("0x1.fffffep127"),
    float64: float.fromhex("0x1.fffffffffffffp1023"),
}


def number_as(value: Number, target: dtype) -> Number:
    """The Python number that an element of the dtype will be; refused where the dtype cannot hold it.

    A float loses its fraction in an integer dtype; a negative int wraps around in uint8.

    >>> number_as(2.7, int64), number_as(-1, uint8), number_as(3, float16)
    (2, 255, 3.0)
    """
    if target.category == BOOL:
        return bool(value)
    largest = LARGEST[target]
    if target.is_floating_point:
        value = float(value)
        if abs(value) <= largest or not math.isfinite(value):
            return value
    elif target.is_signed:
        if -largest - 1 <= value <= largest:
            return int(value)
    elif (0 if isinstance(value, float) else -largest) <= value <= largest:
        return int(value) % int(largest + 1)
    raise DtypeError(f"value cannot be converted to type {CHECKED_NAMES[target.name]} without overflow")
