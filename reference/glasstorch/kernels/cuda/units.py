"""How many bytes at a time does a kernel move when it ignores the dtype?

Mirrors: OpaqueType in aten/src/ATen/native/cuda/IndexKernel.cu, the aligned copies of cuda/Shape.cu
"""

from __future__ import annotations

from math import gcd
from typing import Any, Final

import numpy as np

# Bytes -> the type that CUDA C++ moves at once, and how NumPy passes it by value.
UNIT: Final = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long", 16: "int4"}
NUMBER: Final[dict[int, Any]] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
ELEMENT: Final = (1, 2, 4, 8)  # the sizes of the dtypes that kernels compute in


def widest(*nbytes: int) -> int:
    """The bytes of the largest unit that divides all of these byte counts and addresses.

    >>> widest(48, 1024)
    16
    >>> widest(12, 1024)
    4
    """
    return gcd(16, *nbytes)


def bits(value: Any) -> Any:
    """A NumPy scalar as the unsigned integer of the same size and bits.

    >>> hex(bits(np.float32(1)))
    '0x3f800000'
    """
    return np.asarray(value).view(NUMBER[value.itemsize])[()]
