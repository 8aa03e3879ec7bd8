"""Which methods give a tensor in the dtype that they are named after?

Mirrors: tools/autograd/templates/python_variable_methods.cpp (THPVariable_byte ... THPVariable_cdouble)
Differs: `chalf` is refused, as complex32 is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import (
    NO_COMPLEX_HALF,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from glasstorch.core.dtype import bfloat16 as BFLOAT16
from glasstorch.core.errors import DtypeError
from glasstorch.python_forms.conversion import to_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def bool(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as bool: whether each element is not 0."""
    return to_dtype(self, bool_, memory_format)


def byte(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as uint8; itself if it is."""
    return to_dtype(self, uint8, memory_format)


def char(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as int8; itself if it is."""
    return to_dtype(self, int8, memory_format)


def short(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as int16; itself if it is."""
    return to_dtype(self, int16, memory_format)


def int(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as int32; itself if it is."""
    return to_dtype(self, int32, memory_format)


def long(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as int64; itself if it is."""
    return to_dtype(self, int64, memory_format)


def half(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as float16; itself if it is."""
    return to_dtype(self, float16, memory_format)


def bfloat16(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as bfloat16; itself if it is."""
    return to_dtype(self, BFLOAT16, memory_format)


def float(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as float32; itself if it is."""
    return to_dtype(self, float32, memory_format)


def double(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as float64; itself if it is."""
    return to_dtype(self, float64, memory_format)


def cfloat(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as complex64; itself if it is."""
    return to_dtype(self, complex64, memory_format)


def cdouble(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor as complex128; itself if it is."""
    return to_dtype(self, complex128, memory_format)


def chalf(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """Refused: there is no complex32."""
    raise DtypeError(NO_COMPLEX_HALF)
