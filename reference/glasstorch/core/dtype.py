"""What type do a tensor's elements have, and what do two dtypes promote to?

Mirrors: c10/core/ScalarType.h (promoteTypes, toComplexType, toRealValueType), torch/csrc/utils/tensor_dtypes.cpp,
    torch/csrc/DynamicTypes.cpp
Differs: the dtypes that NumPy and ml_dtypes can hold; complex32, which neither has, is refused. The promotion table is
    computed from category, signedness and width, and few exceptions, instead of written out.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, Self

import ml_dtypes
import numpy as np

from glasstorch.core.errors import ArgumentTypeError, DtypeError, not_implemented_for
from glasstorch.core.symbols import SymBool, SymInt

Number = bool | int | float | complex
RealNumber = bool | int | float

BOOL, INTEGRAL, FLOATING, COMPLEX = 0, 1, 2, 3  # categories, from lowest to highest in type promotion


class dtype:
    """The type of a tensor's elements; there is exactly one object for each.

    `itemsize` is in bytes. `numpy` is the equivalent NumPy dtype (bfloat16 and the 8-bit floats come from ml_dtypes).

    >>> float16
    torch.float16
    >>> int64.itemsize
    8
    """

    __slots__ = (
        "abbr",
        "category",
        "is_complex",
        "is_floating_point",
        "is_signed",
        "itemsize",
        "name",
        "numpy",
        "scalar_name",
        "scalar_type",
    )

    name: str
    numpy: np.dtype[Any]
    category: int
    scalar_name: str  # the name in PyTorch's messages: Float, Long ...
    scalar_type: int  # its value in c10::ScalarType, which graphs and kernels store
    abbr: str
    itemsize: int
    is_floating_point: bool
    is_complex: bool
    is_signed: bool

    def __new__(cls, *_: object, **__: object) -> Self:
        """Refused: the dtypes are those of this module."""
        raise ArgumentTypeError("cannot create 'torch.dtype' instances; take one by its name, as in torch.float32")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return "bool_" if self.name == "bool" else self.name  # the variable below that holds this object

    def to_real(self) -> dtype:
        """The dtype of the real and imaginary parts; itself for one that is not complex.

        >>> complex64.to_real()
        torch.float32
        """
        return REAL.get(self, self)

    def to_complex(self) -> dtype:
        """The complex dtype whose parts hold this floating dtype; RuntimeError for integers, bool and 8-bit floats.

        >>> float64.to_complex(), bfloat16.to_complex()
        (torch.complex128, torch.complex64)
        """
        found = self if self.is_complex else TO_COMPLEX.get(self)
        if found is None:
            if self is float16:
                raise DtypeError(NO_COMPLEX_HALF)
            raise DtypeError(f"Unknown Complex ScalarType for {self.scalar_name}")
        return found


def _make(name: str, scalar_name: str, scalar_type: int, abbr: str, numpy: Any) -> dtype:
    held: np.dtype[Any] = np.dtype(numpy)
    category = {"b": BOOL, "i": INTEGRAL, "u": INTEGRAL, "c": COMPLEX}.get(held.kind, FLOATING)  # ml_dtypes: V or f
    made = object.__new__(dtype)
    made.name, made.numpy, made.category, made.abbr = name, held, category, abbr
    made.scalar_name, made.scalar_type, made.itemsize = scalar_name, scalar_type, held.itemsize
    made.is_floating_point, made.is_complex = category == FLOATING, category == COMPLEX
    made.is_signed = category >= FLOATING or held.kind == "i"
    return made


# `scalar_name` is what PyTorch's errors print (toString in c10/core/ScalarType.h), `scalar_type` its number there.
bool_: Final = _make("bool", "Bool", 11, "b8", np.bool_)
uint8: Final = _make("uint8", "Byte", 0, "u8", np.uint8)
uint16: Final = _make("uint16", "UInt16", 27, "u16", np.uint16)
uint32: Final = _make("uint32", "UInt32", 28, "u32", np.uint32)
uint64: Final = _make("uint64", "UInt64", 29, "u64", np.uint64)
int8: Final = _make("int8", "Char", 1, "i8", np.int8)
int16: Final = _make("int16", "Short", 2, "i16", np.int16)
int32: Final = _make("int32", "Int", 3, "i32", np.int32)
int64: Final = _make("int64", "Long", 4, "i64", np.int64)
float8_e4m3fn: Final = _make("float8_e4m3fn", "Float8_e4m3fn", 24, "f8e4m3fn", ml_dtypes.float8_e4m3fn)
float8_e5m2: Final = _make("float8_e5m2", "Float8_e5m2", 23, "f8e5m2", ml_dtypes.float8_e5m2)
float16: Final = _make("float16", "Half", 5, "f16", np.float16)
bfloat16: Final = _make("bfloat16", "BFloat16", 15, "bf16", ml_dtypes.bfloat16)
float32: Final = _make("float32", "Float", 6, "f32", np.float32)
float64: Final = _make("float64", "Double", 7, "f64", np.float64)
complex64: Final = _make("complex64", "ComplexFloat", 9, "c64", np.complex64)
complex128: Final = _make("complex128", "ComplexDouble", 10, "c128", np.complex128)

DTYPES: Final = (
    *(bool_, uint8, uint16, uint32, uint64, int8, int16, int32, int64),
    *(float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, float64, complex64, complex128),
)
PYTHON_TYPES: Final[dict[type, dtype]] = {bool: bool_, int: int64, float: float64, complex: complex128}
BY_NAME: Final = {d.name: d for d in DTYPES}
FROM_NUMPY: Final = {d.numpy: d for d in DTYPES}

# dtypes that NumPy computes in slowly or less exactly: kernels upcast them to float32 and round once.
HALF_PRECISION: Final = frozenset((float16, bfloat16))

COMPLEX_DTYPES: Final = frozenset((complex64, complex128))

# dtypes that can be stored, copied and cast; few kernels compute in them, and they promote with almost nothing.
BAREBONES_UNSIGNED: Final = frozenset((uint16, uint32, uint64))
FLOAT8: Final = frozenset((float8_e4m3fn, float8_e5m2))
STORED_ONLY: Final = BAREBONES_UNSIGNED | FLOAT8

# dtypes that kernels upcast and round once; and those that arithmetic is implemented for.
NARROW_FLOATS: Final = HALF_PRECISION | FLOAT8
FLOATS: Final = frozenset((float16, bfloat16, float32, float64))

REAL: Final = {complex64: float32, complex128: float64}
TO_COMPLEX: Final = {bfloat16: complex64, float32: complex64, float64: complex128}

NO_COMPLEX_HALF: Final = (
    "complex32 (ComplexHalf) is not in glasstorch: NumPy has no complex number of 4 bytes; use complex64"
)

# What torch.from_numpy lists, in PyTorch's order (torch/csrc/utils/tensor_numpy.cpp, numpy_dtype_to_aten).
NUMPY_DTYPES: Final = (
    *(float64, float32, float16, complex64, complex128),
    *(int64, int32, int16, int8, uint64, uint32, uint16, uint8, bool_),
)


def from_numpy_dtype(numpy_dtype: np.dtype[Any]) -> dtype:
    """The dtype equivalent to a NumPy dtype, whose byte order must be native; TypeError where there is none."""
    found = FROM_NUMPY.get(numpy_dtype)
    if found is None:
        *names, last = (d.name for d in NUMPY_DTYPES)
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. The only supported types are: "
            f"{', '.join(names)}, and {last}."
        )
    return found


def checked_dtype(value: object, function: str, argument: str, position: int) -> dtype:
    """A function's dtype argument, a dtype or one of Python's number types; ArgumentTypeError for anything else."""
    found = value if isinstance(value, dtype) else PYTHON_TYPES.get(value) if isinstance(value, type) else None
    if found is None:
        kind = type(value).__name__
        raise ArgumentTypeError(
            f"{function}(): argument '{argument}' (position {position}) must be torch.dtype, not {kind}"
        )
    return found


def promote_types(type1: dtype | type[Number], type2: dtype | type[Number]) -> dtype:
    """The smallest dtype of the higher category that both fit into: any float beats any integer.

    uint16, uint32, uint64 promote only with floats, the 8-bit floats only with themselves; others are refused.

    >>> promote_types(int64, float16)
    torch.float16
    >>> promote_types(float16, bfloat16)
    torch.float32
    """
    return PROMOTE[checked_dtype(type1, "promote_types", "type1", 1), checked_dtype(type2, "promote_types", "type2", 2)]


class _Promotions(dict[tuple[dtype, dtype], dtype]):
    """The promotion table; a pair that it lacks raises a DtypeError that says why."""

    def __missing__(self, pair: tuple[dtype, dtype]) -> dtype:
        a, b = pair
        kind = "Float8 Types" if FLOAT8 & {a, b} else "uint16, uint32, uint64 types"
        raise DtypeError(
            f"Promotion for {kind} is not supported, attempted to promote {a.scalar_name} and {b.scalar_name}"
        )


def _promote(a: dtype, b: dtype) -> dtype | None:
    if a is b:
        return a
    if FLOAT8 & {a, b}:
        return None
    if BAREBONES_UNSIGNED & {a, b}:
        other = b if a in BAREBONES_UNSIGNED else a
        return other if other.is_floating_point else None
    low, high = sorted((a, b), key=lambda d: (d.category, d.itemsize))
    if high.is_complex:
        return complex128 if low is float64 else high
    if low.category != high.category:
        return high
    if {a, b} == {float16, bfloat16}:  # neither holds the other
        return float32
    if {a, b} == {uint8, int8}:
        return int16
    return high


PROMOTE: Final = _Promotions({(a, b): c for a in DTYPES for b in DTYPES if (c := _promote(a, b)) is not None})


def can_cast(from_: dtype | type[Number], to: dtype | type[Number]) -> bool:
    """Whether a result of type `from_` may be written into a tensor of type `to`: never to a lower category.

    >>> can_cast(int64, float), can_cast(float32, int)
    (True, False)
    """
    given = checked_dtype(from_, "can_cast", "from_", 1)
    return given.category <= checked_dtype(to, "can_cast", "to", 2).category


def check_can_cast(from_: dtype, to: dtype) -> None:
    """Raise DtypeError as in-place and out= operators do when the result does not fit the tensor written to."""
    if from_.category > to.category:
        raise DtypeError(f"result type {from_.scalar_name} can't be cast to the desired output type {to.scalar_name}")


def check_implemented(label: str, dtype: dtype, refused: Collection[dtype]) -> None:
    """Refuse a dtype for which PyTorch has no kernel, by its kernel's name."""
    if dtype in refused:
        raise not_implemented_for(label, dtype)


def dtype_of_number(value: Number) -> dtype:
    """bool, int64, the default floating dtype for a float, or the complex dtype made of it."""
    if isinstance(value, bool | SymBool):
        return bool_
    if isinstance(value, int | SymInt):
        return int64
    return get_default_complex_dtype() if isinstance(value, complex) else _default_dtype


def dtype_of_operand(value: Number) -> dtype:
    """As `dtype_of_number`, for a number that is an operand beside tensors: an int too large for int64 is uint64.

    OverflowError for an int beyond that too.
    """
    if type(value) is not int or -(2**63) <= value < 2**63:
        return dtype_of_number(value)
    check_fits(value)
    return uint64


def check_fits(value: int) -> None:
    """Raise OverflowError for an int that neither int64 nor uint64 holds."""
    if not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert" if value > 0 else "can't convert negative int to unsigned")


_default_dtype = float32


def get_default_dtype() -> dtype:
    """The dtype of new tensors made from Python floats; float32 unless set."""
    return _default_dtype


def get_default_complex_dtype() -> dtype:
    """The dtype of new tensors made from Python complex numbers: its parts have the default dtype."""
    return _default_dtype.to_complex()


def set_default_dtype(d: dtype) -> None:
    """Make `d`, a floating point dtype, the one that Python floats become.

    Process-wide, as in PyTorch."""
    global _default_dtype
    if not isinstance(d, dtype):
        raise TypeError(f"invalid dtype object: expected a floating point dtype, got {d!r}")
    if not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, got {d!r}")
    if d in FLOAT8:
        raise TypeError(f"an 8-bit float, {d!r}, cannot be the default type: nothing computes in it; use float16")
    _default_dtype = d
