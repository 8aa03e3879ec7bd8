"""What does a shape function return?

Mirrors: set_output_raw_strided in aten/src/ATen/TensorMeta.h, check_out in torchgen/dest/register_dispatch_key.py
Differs: a value that is returned; PyTorch calls a method of the kernel's object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from glasstorch.core.dtype import check_can_cast, dtype
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import Shape

# (dtype of the result, dtype of the out= tensor): raises if the first may not be written into the second.
OutRule = Callable[[dtype, dtype], None]

# The C++ names of dtypes, which some of PyTorch's messages print.
C_NAMES = {
    "bool": "bool",
    "uint8": "unsigned char",
    "uint16": "short unsigned int",
    "uint32": "unsigned int",
    "uint64": "long unsigned int",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "float8_e4m3fn": "c10::Float8_e4m3fn",
    "float8_e5m2": "c10::Float8_e5m2",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


class Result(NamedTuple):
    """Shape, dtype and strides of one result; `strides=None` means row-major.

    `check_out` decides which dtypes an out= tensor may have; operators made with PyTorch's TensorIterator cast.
    """

    shape: Shape
    dtype: dtype
    strides: Shape | None = None
    check_out: OutRule = check_can_cast


def same_dtype(result: dtype, out: dtype) -> None:
    """The rule of operators that never cast: an out= tensor must have the result's dtype."""
    if result is not out:
        raise DtypeError(
            f"Expected out tensor to have dtype {C_NAMES[result.name]}, but got {C_NAMES[out.name]} instead"
        )


def any_dtype(result: dtype, out: dtype) -> None:
    """The rule of operators that compute in the dtype of the out= tensor."""


def castable(name: str, written: str = "result") -> OutRule:
    """The rule of linear algebra operators that cast, with their own error message."""

    def check(result: dtype, out: dtype) -> None:
        if result.category > out.category:
            raise DtypeError(
                f"{name}: Expected {written} to be safely castable from {result.scalar_name} dtype, but got {written} "
                f"with dtype {out.scalar_name}"
            )

    return check
