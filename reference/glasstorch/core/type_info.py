"""What are the limits of a dtype?

Mirrors: torch/csrc/TypeInfo.cpp
Differs: the limits come from NumPy and ml_dtypes.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from glasstorch.core.dtype import FLOAT8, FLOATING, INTEGRAL, dtype, get_default_dtype
from glasstorch.core.errors import ArgumentTypeError


class finfo:
    """The limits of a floating point dtype, of the parts of a complex one; of the default one unless told.

    >>> finfo().max
    3.4028234663852886e+38
    """

    def __init__(self, type: dtype | None = None) -> None:
        wanted = get_default_dtype() if type is None else type
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
        self.resolution = 1.0 if wanted in FLOAT8 else float(f"1e-{limits.precision}")  # of no decimal digit

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype."""

    def __init__(self, type: dtype) -> None:
        if type.category != INTEGRAL:
            raise ArgumentTypeError(
                f"torch.iinfo() requires an integer input type, not {type}. Use torch.finfo for floating point"
            )
        limits = np.iinfo(type.numpy)
        self.dtype = type.name
        self.bits = 8 * type.itemsize
        self.min, self.max = int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
