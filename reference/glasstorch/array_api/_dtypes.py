"""Which kinds of dtypes are there, what do dtypes promote to, and what are their limits?

Mirrors: nothing in torch; the standard's data type functions
Differs: `can_cast` follows the promotion table, as the standard says; torch's compares only the kinds.
"""

from __future__ import annotations

from dataclasses import dataclass

from glasstorch._tensor import Tensor
from glasstorch.core import type_info
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import BOOL, COMPLEX, FLOATING, INTEGRAL, Number, dtype, promote_types
from glasstorch.core.errors import DtypeError
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes import promotion

Array = Tensor


@dataclass(frozen=True, slots=True)
class finfo_object:
    """The limits of a floating point dtype, or of the parts of a complex one."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtype


@dataclass(frozen=True, slots=True)
class iinfo_object:
    """The limits of an integer dtype, as an object."""

    bits: int
    max: int
    min: int
    dtype: dtype


def finfo(type: dtype | Array, /) -> finfo_object:
    """The limits of a floating point dtype."""
    asked = type.dtype if isinstance(type, Tensor) else type
    info = type_info.finfo(asked.to_real())
    return finfo_object(info.bits, info.eps, info.max, info.min, info.smallest_normal, asked.to_real())


def iinfo(type: dtype | Array, /) -> iinfo_object:
    """The limits of an integer dtype."""
    asked = type.dtype if isinstance(type, Tensor) else type
    info = type_info.iinfo(asked)
    return iinfo_object(info.bits, info.max, info.min, asked)


def isdtype(dtype: dtype, kind: dtype | str | tuple[dtype | str, ...]) -> bool:
    """Whether a dtype is of a kind (such as "bool", "integral", "real floating"), is another one, or one of several."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if not isinstance(kind, str):
        return dtype is kind
    category = dtype.category
    kinds = {
        "bool": category == BOOL,
        "signed integer": category == INTEGRAL and dtype.is_signed,
        "unsigned integer": category == INTEGRAL and not dtype.is_signed,
        "integral": category == INTEGRAL,
        "real floating": category == FLOATING,
        "complex floating": category == COMPLEX,
        "numeric": category != BOOL,
    }
    if kind not in kinds:
        raise ValueError(f"unknown kind {kind!r} of dtypes; expected a dtype or one of {', '.join(kinds)}")
    return kinds[kind]


def can_cast(from_: dtype | Array, to: dtype, /) -> bool:
    """Whether the two dtypes promote to the second."""
    given = from_.dtype if isinstance(from_, Tensor) else from_
    if given.category != to.category and given.category != FLOATING:
        return False
    try:
        return promote_types(given, to) is to
    except DtypeError:
        return False


def result_type(*arrays_and_dtypes: Array | dtype | Number) -> dtype:
    """The dtype of what is computed from all of them; a Python number only counts if it is of a higher kind."""
    dtypes = [a.dtype if isinstance(a, Tensor) else a for a in arrays_and_dtypes if isinstance(a, Tensor | dtype)]
    numbers = [a for a in arrays_and_dtypes if not isinstance(a, Tensor | dtype)]
    if not dtypes:
        raise ValueError(f"at least one array or dtype is needed, got {arrays_and_dtypes!r}")
    common = dtypes[0]
    for other in dtypes[1:]:
        common = promote_types(common, other)
    return promotion.result_type(f.empty([1], dtype=common, device="meta"), *numbers)


def astype(x: Array, dtype: dtype, /, *, copy: bool = True, device: Device | None = None) -> Array:
    """The array in another dtype, always a copy unless `copy=False` allows the array itself."""
    return x.to(x.device if device is None else device, dtype, copy=copy)
