"""What are the limits of a dtype?

Mirrors: torch/csrc/TypeInfo.cpp
Differs: the limits come from NumPy and ml_dtypes.
"""

from __future__ import annotations

from typing import Final

import ml_dtypes
import numpy as np

from glasstorch.core.dtype import FLOAT8, FLOATING, INTEGRAL, Number, bool_, checked_dtype, dtype, get_default_dtype
from glasstorch.core.errors import ArgumentTypeError

NOT_GIVEN: Final = object()  # not None, which is refused


class _Limits:
    """What finfo and iinfo share: two are equal if their dtypes are; they are not hashable."""

    dtype: str
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.dtype == self.dtype


class finfo(_Limits):
    """The limits of a floating point dtype (by default the default dtype), or of the parts of a complex one.

    >>> finfo().max
    3.4028234663852886e+38
    """

    def __init__(self, type: dtype | type[Number] | object = NOT_GIVEN) -> None:
        wanted = get_default_dtype() if type is NOT_GIVEN else checked_dtype(type, "finfo", "type", 1)
        if wanted.category < FLOATING:
            raise ArgumentTypeError(
                f"torch.finfo() requires a floating point input type, not {wanted}. Use torch.iinfo for integers"
            )
        wanted = wanted.to_real()
        limits = ml_dtypes.finfo(wanted.numpy)  # type: ignore[no-untyped-call]
        self.dtype = wanted.name
        self.bits = 8 * wanted.itemsize
        self.min, self.max = float(limits.min), float(limits.max)
        self.eps = float(limits.eps)
        self.tiny = self.smallest_normal = float(limits.tiny)
        self.resolution = 1.0 if wanted in FLOAT8 else float(f"1e-{limits.precision}")

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Limits):
    """The limits of an integer dtype."""

    def __init__(self, type: dtype | type[Number]) -> None:
        wanted = checked_dtype(type, "iinfo", "type", 1)
        if wanted is bool_:
            raise ArgumentTypeError("torch.bool is not supported by torch.iinfo")
        if wanted.category != INTEGRAL:
            raise ArgumentTypeError(
                f"torch.iinfo() requires an integer input type, not {wanted}. Use torch.finfo for floating point"
            )
        limits = np.iinfo(wanted.numpy)
        self.dtype = wanted.name
        self.bits = 8 * wanted.itemsize
        self.min, self.max = int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
