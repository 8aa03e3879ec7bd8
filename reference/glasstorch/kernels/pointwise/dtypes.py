"""Which sets of dtypes do pointwise kernels support?

Mirrors: the dtype sets of aten/src/ATen/Dispatch.h (AT_DISPATCH_ALL_TYPES_AND2 and its neighbours). ALL is AT_ALL_TYPES
    with bool and half precision; other names say what they add or leave out.
"""

from __future__ import annotations

from typing import Final

from glasstorch.core.dtype import (
    BAREBONES_UNSIGNED,
    COMPLEX_DTYPES,
    DTYPES,
    HALF_PRECISION,
    STORED_ONLY,
    bool_,
    float32,
    float64,
)

ALL: Final = frozenset(DTYPES) - COMPLEX_DTYPES - STORED_ONLY
NOT_BOOL: Final = ALL - {bool_}
FLOATING: Final = frozenset(d for d in ALL if d.is_floating_point)
INTEGRAL_OR_BOOL: Final = ALL - FLOATING
DIRECT: Final = ALL - HALF_PRECISION
DIRECT_NOT_BOOL: Final = DIRECT - {bool_}
DIRECT_FLOATS: Final = frozenset((float32, float64))
EVERY: Final = frozenset(DTYPES)
WITH_COMPLEX: Final = ALL | COMPLEX_DTYPES
FLOATING_OR_COMPLEX: Final = FLOATING | COMPLEX_DTYPES
WHOLE_NUMBERS: Final = INTEGRAL_OR_BOOL | BAREBONES_UNSIGNED
