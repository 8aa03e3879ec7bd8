"""What type do a tensor's elements have, and what do two types become together?

Mirrors: c10/core/ScalarType.h (promoteTypes), torch/csrc/utils/tensor_dtypes.cpp, torch/csrc/DynamicTypes.cpp
Differs: the eight dtypes of the thin line; the promotion table is computed from category and width, and one
    exception (float16 with bfloat16), instead of written out.
"""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from glasstorch.core.errors import DtypeError

Number = bool | int | float

BOOL, INTEGRAL, FLOATING = 0, 1, 2  # categories, in the order in which one beats the other


class dtype:
    """The type of a tensor's elements; there is exactly one object for each.

    `itemsize` is in bytes. `numpy` is the equivalent NumPy dtype (bfloat16 comes from ml_dtypes).

    >>> float16
    torch.float16
    >>> int64.itemsize
    8
    """

    __slots__ = (
        "category",
        "is_complex",
        "is_floating_point",
        "is_signed",
        "itemsize",
        "name",
        "numpy",
        "scalar_name",
    )

    def __init__(self, name: str, numpy: np.dtype[Any], category: int, scalar_name: str) -> None:
        self.name = name
        self.numpy = numpy
        self.category = category
        self.scalar_name = scalar_name  # the name in PyTorch's messages: Float, Long ...
        self.itemsize = numpy.itemsize
        self.is_floating_point = category == FLOATING
        self.is_complex = False
        self.is_signed = category == FLOATING or numpy.kind == "i"

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return "bool_" if self.name == "bool" else self.name  # the variable below that holds this object


# name -> dtype. `scalar_name` is what PyTorch's errors print (toString in c10/core/ScalarType.h).
bool_: Final = dtype("bool", np.dtype(np.bool_), BOOL, "Bool")
uint8: Final = dtype("uint8", np.dtype(np.uint8), INTEGRAL, "Byte")
int32: Final = dtype("int32", np.dtype(np.int32), INTEGRAL, "Int")
int64: Final = dtype("int64", np.dtype(np.int64), INTEGRAL, "Long")
float16: Final = dtype("float16", np.dtype(np.float16), FLOATING, "Half")
bfloat16: Final = dtype("bfloat16", np.dtype(ml_dtypes.bfloat16), FLOATING, "BFloat16")
float32: Final = dtype("float32", np.dtype(np.float32), FLOATING, "Float")
float64: Final = dtype("float64", np.dtype(np.float64), FLOATING, "Double")

DTYPES: Final = (bool_, uint8, int32, int64, float16, bfloat16, float32, float64)
BY_NAME: Final = {d.name: d for d in DTYPES}
FROM_NUMPY: Final = {d.numpy: d for d in DTYPES}

# dtypes that NumPy computes in through a slower or less exact path: kernels widen them to float32 and round once.
HALF_PRECISION: Final = frozenset((float16, bfloat16))


def from_numpy_dtype(numpy_dtype: np.dtype[Any]) -> dtype:
    """The dtype that holds NumPy's; NumPy's byte order must be native."""
    found = FROM_NUMPY.get(numpy_dtype)
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. The only supported types are: "
            f"{', '.join(d.name for d in DTYPES)}."
        )
    return found


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype of the higher category that both fit into: any float beats any integer.

    >>> promote_types(int64, float16)
    torch.float16
    >>> promote_types(float16, bfloat16)
    torch.float32
    """
    return PROMOTE[type1, type2]


def _promote(a: dtype, b: dtype) -> dtype:
    if a is b:
        return a
    if a.category != b.category:
        return a if a.category > b.category else b
    if a.itemsize == b.itemsize:  # float16 with bfloat16: neither holds the other
        return float32
    return a if a.itemsize > b.itemsize else b


PROMOTE: Final = {(a, b): _promote(a, b) for a in DTYPES for b in DTYPES}


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of type `from_` may be written into a tensor of type `to`: never to a lower category."""
    return from_.category <= to.category


def check_can_cast(from_: dtype, to: dtype) -> None:
    """Raise DtypeError as in-place and out= operators do when the result does not fit the tensor written to."""
    if not can_cast(from_, to):
        raise DtypeError(f"result type {from_.scalar_name} can't be cast to the desired output type {to.scalar_name}")


def dtype_of_number(value: Number) -> dtype:
    """bool, int64, or the default floating dtype for a float."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return get_default_dtype()


_default_dtype = float32


def get_default_dtype() -> dtype:
    """The dtype of new tensors made from Python floats; float32 unless set."""
    return _default_dtype


def set_default_dtype(d: dtype) -> None:
    """Make `d`, a floating point dtype, the one that Python floats become.

    Process-wide, as in PyTorch."""
    global _default_dtype
    if not isinstance(d, dtype):
        raise TypeError(f"invalid dtype object: expected a floating point dtype, got {d!r}")
    if not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {d!r}")
    _default_dtype = d
