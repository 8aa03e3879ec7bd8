"""Which bounds and dtypes are accepted for random numbers?

Mirrors: aten/src/ATen/native/DistributionTemplates.h (update_from, update_to, the bounds checks),
    aten/src/ATen/native/cpu/DistributionTemplates.h (which dtypes each kernel is made for)
Differs: messages name the limits.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import cache
from typing import Any

import numpy as np

from glasstorch.core.dtype import FLOAT8, from_numpy_dtype
from glasstorch.core.errors import ArgumentValueError, DtypeNotImplementedError, Rule
from glasstorch.core.user_line import warn_user

# Significant bits, and the largest finite value.
FLOATS = {
    "float16": (11, 65504.0),
    "bfloat16": (8, float.fromhex("0x1.fep127")),
    "float32": (24, float.fromhex("0x1.fffffep127")),
    "float64": (53, sys.float_info.max),
}
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
NUMBERS = (*INTEGERS, *FLOATS)
SMALL_FLOATS = tuple(d.name for d in FLOAT8)
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


class RandomNumberError(Rule, RuntimeError):
    """A seed, a state, a dtype or a range from which no random number can be drawn."""


@cache
def name_of(dtype: np.dtype[Any]) -> str:
    """The dtype's name, cached; NumPy computes it anew each time, which takes longer than drawing eight numbers."""
    return dtype.name


def require(dtype: np.dtype[Any], kernel: str, accepted: Collection[str]) -> None:
    """Refuse a dtype that is not accepted, with the name of the PyTorch kernel that refuses it."""
    if name_of(dtype) not in accepted:
        name = from_numpy_dtype(dtype).scalar_name
        raise DtypeNotImplementedError(
            f"\"{kernel}\" not implemented for '{name}'; expected one of {', '.join(accepted)}"
        )


def require_floating(dtype: np.dtype[Any], kernel: str) -> None:
    """Refuse a dtype that is not floating point."""
    require(dtype, kernel, FLOATS)


def require_continuous(dtype: np.dtype[Any], distribution: str) -> None:
    """Refuse a dtype that holds no real numbers; floating dtypes without a kernel are refused elsewhere."""
    if name_of(dtype) not in (*FLOATS, *SMALL_FLOATS):
        raise RandomNumberError(
            f"{distribution} distribution is a continuous probability distribution. "
            f"dtype must be a floating point but you specified {name_of(dtype)}"
        )


def significant_bits(dtype: np.dtype[Any]) -> int:
    """The number of significant bits of a floating dtype, including the leading one."""
    return FLOATS[name_of(dtype)][0]


def largest_integer(dtype: np.dtype[Any]) -> int:
    """The largest number that random integers of this dtype reach when no bound is given."""
    if dtype == np.bool_:
        return 1
    return 1 << significant_bits(dtype) if name_of(dtype) in FLOATS else int(np.iinfo(dtype).max)


def check_uniform_bounds(dtype: np.dtype[Any], low: float, high: float) -> None:
    """Refuse bounds between which `uniform_` cannot draw in this dtype."""
    require_floating(dtype, "check_uniform_bounds")
    largest = FLOATS[name_of(dtype)][1]
    for name, value in (("from", low), ("to", high)):
        if not -largest <= value <= largest:
            raise RandomNumberError(
                f"{name} is out of bounds for {dtype.name}: got {value:g}, expected a number "
                f"from {-largest:g} to {largest:g}"
            )
    if low > high:
        raise RandomNumberError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > largest:
        raise RandomNumberError(
            f"uniform_ expects to-from <= {largest:g}, the largest {dtype.name}, but found to={high:g} and "
            f"from={low:g} which result in to-from to exceed the limit"
        )


def integer_range(dtype: np.dtype[Any], low: int, high: int | None, count: int = 1) -> tuple[int, int]:
    """The first and last integer of `[low, high)` in the dtype; without `high`, up to `largest_integer`.

    `count` only matters if it is 0: then any dtype may have all 64 bits.
    """
    for value in (low, high):
        if value is not None and not INT64_MIN <= value <= INT64_MAX:
            raise ArgumentValueError(f"Overflow when unpacking long long: {value} must lie in [-2**63, 2**63)")
    if high is not None and low >= high:
        raise RandomNumberError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    name = name_of(dtype)
    if high is None and low == INT64_MIN:
        if count:
            _require_all_bits(dtype)
        return INT64_MIN, INT64_MAX
    if name in SMALL_FLOATS:
        require_floating(dtype, "random_from_to_range_calc" if high is None else "random_update_from_to")
    elif dtype.kind == "c":
        asked = "random_from_to_impl" if high is None else "check_random_bounds"
        raise RandomNumberError(f"{asked} handles only integral, floating-point and boolean types, not {name}")
    first, last = low, largest_integer(dtype) if high is None else high - 1
    if name in FLOATS:
        # A narrow float may round the ends out of the range; they move inward to values that it can represent.
        first = _moved_up(low, dtype)
        last = last if high is None else _moved_down(high, dtype) - 1
        if first > last or (high is None and first == last):
            raise RandomNumberError(
                f"random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={first} >= to={last + (high is not None)} for {name}"
            )
        smallest, largest = -int(FLOATS[name][1]), int(FLOATS[name][1])
    elif dtype == np.bool_:
        smallest, largest = 0, 1
    else:  # bounds are int64s: beyond them a uint64 cannot be reached
        smallest, largest = int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), INT64_MAX)
    for end, value in (("from", first), ("to - 1", last)):
        if not smallest <= value <= largest:
            raise RandomNumberError(
                f"{end} is out of bounds for {name}: got {value}, expected a number from {smallest} to {largest}"
            )
        if name in FLOATS and abs(value) > 1 << significant_bits(dtype):
            _warn_of_gaps(end, dtype)
    return first, last


def _require_all_bits(dtype: np.dtype[Any]) -> None:
    """Refuse a dtype in which PyTorch does not draw from all int64s."""
    kernel = "random_full_64_bits_range_kernel_cpu"
    require(dtype, kernel, [name for name in NUMBERS if name != "float16"])
    if name_of(dtype) not in ("int64", "bfloat16", "float32", "float64"):
        raise RandomNumberError(f"{kernel} handles only int64, double, float and bfloat16, not {name_of(dtype)}")


def _warn_of_gaps(end: str, dtype: np.dtype[Any]) -> None:
    bits = significant_bits(dtype)
    warn_user(
        f"{end} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision limitations {name_of(dtype)} can support "
        f"discrete uniform distribution only within this range. This warning will become an error in version 1.7 "
        f"release, please fix the code in advance"
    )


def _moved_up(low: int, dtype: np.dtype[Any]) -> int:
    """The first integer from `low` on that the floating dtype does not round below it."""
    rounded = _rounded(low + 1, dtype)
    return rounded + _step(low + 1, dtype) if rounded < low else low


def _moved_down(high: int, dtype: np.dtype[Any]) -> int:
    """The bound up to which the floating dtype does not round a number to `high` or beyond."""
    rounded = _rounded(high - 1, dtype)
    return rounded - _step(high - 1, dtype) if rounded >= high else high


def _rounded(value: int, dtype: np.dtype[Any]) -> int:
    with np.errstate(over="ignore"):
        rounded = float(np.asarray(value, np.float64).astype(dtype))
    # A number beyond the largest float is refused later; one that rounds beyond the int64s stays where it is.
    return int(rounded) if abs(rounded) < 1 << 63 else value


def _step(value: int, dtype: np.dtype[Any]) -> int:
    """The distance between neighbouring values of the dtype near an integer."""
    return 1 << max(abs(value).bit_length() - significant_bits(dtype), 0)
