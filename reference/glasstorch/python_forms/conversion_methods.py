"""Which methods give a tensor, or its one element, as another type?

Mirrors: tools/autograd/templates/python_variable_methods.cpp (THPVariable_byte ... THPVariable_cdouble,
    THPVariable_float_scalar, THPVariable_integral_scalar, THPVariable_index_scalar, TypeError_to_NotImplemented_)
Differs: `chalf` is refused, as complex32 is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import (
    INTEGRAL,
    NO_COMPLEX_HALF,
    bfloat16,
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
from glasstorch.core.errors import ArgumentValueError, DtypeError
from glasstorch.operators.generated.methods import TensorMethods
from glasstorch.operators.shapes.scalars import number_as
from glasstorch.python_forms.conversion import to, to_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

INT, BFLOAT16 = int, bfloat16  # inside the class these are methods


class ConversionMethods(TensorMethods):
    """The methods of Tensor that convert it to another type."""

    to = to  # written by hand, as in PyTorch

    def bool(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as bool: whether each element is not 0."""
        return to_dtype(self, bool_, memory_format)

    def byte(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as uint8; itself if it is."""
        return to_dtype(self, uint8, memory_format)

    def char(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as int8; itself if it is."""
        return to_dtype(self, int8, memory_format)

    def short(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as int16; itself if it is."""
        return to_dtype(self, int16, memory_format)

    def int(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as int32; itself if it is."""
        return to_dtype(self, int32, memory_format)

    def long(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as int64; itself if it is."""
        return to_dtype(self, int64, memory_format)

    def half(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as float16; itself if it is."""
        return to_dtype(self, float16, memory_format)

    def bfloat16(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as bfloat16; itself if it is."""
        return to_dtype(self, BFLOAT16, memory_format)

    def float(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as float32; itself if it is."""
        return to_dtype(self, float32, memory_format)

    def double(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as float64; itself if it is."""
        return to_dtype(self, float64, memory_format)

    def cfloat(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as complex64; itself if it is."""
        return to_dtype(self, complex64, memory_format)

    def cdouble(self: Any, *, memory_format: Any = None) -> Tensor:
        """The tensor as complex128; itself if it is."""
        return to_dtype(self, complex128, memory_format)

    def chalf(self, *, memory_format: Any = None) -> Tensor:
        """Refused: there is no complex32."""
        raise DtypeError(NO_COMPLEX_HALF)

    # The one element as a Python number -------------------------------------------------------------------------

    def __int__(self: Any) -> Any:
        value = _one_element(self)
        return number_as(value, int64) if isinstance(value, complex) else INT(value)

    def __float__(self: Any) -> Any:
        return number_as(_one_element(self), float64)

    def __complex__(self: Any) -> complex:
        return complex(_one_element(self))

    def __index__(self: Any) -> Any:
        if self.dtype.category > INTEGRAL or self.numel() != 1:
            raise TypeError(
                f"only integer tensors of a single element can be converted to an index, this one has sizes "
                f"{list(self._shape)} and dtype {self.dtype}"
            )
        return INT(self.item())


def _one_element(tensor: Any) -> Any:
    """The element as a Python number; ValueError where there are more or none."""
    if tensor.numel() != 1:
        raise ArgumentValueError(
            f"only one element tensors can be converted to Python scalars, this one has sizes {list(tensor._shape)}"
        )
    return tensor.item()
