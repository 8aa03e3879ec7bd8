"""Which bounds may the range of a random number have?

Mirrors: aten/src/ATen/native/DistributionTemplates.h (update_from, update_to, the bounds checks)
Differs: messages name the limits; drawing integers beyond a float's significant bits does not warn.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np

from glasstorch.core.dtype import from_numpy_dtype
from glasstorch.core.errors import DtypeNotImplementedError

# Significant bits, and the largest finite value.
FLOATS = {
    "float16": (11, 65504.0),
    "bfloat16": (8, float.fromhex("0x1.fep127")),
    "float32": (24, float.fromhex("0x1.fffffep127")),
    "float64": (53, sys.float_info.max),
}
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


class RandomNumberError(RuntimeError):
    """A seed, a state or a range from which no random number can be drawn."""


@cache
def name_of(dtype: np.dtype[Any]) -> str:
    """The dtype's name; NumPy works it out anew each time, which takes longer than drawing eight numbers."""
    return dtype.name


def require_floating(dtype: np.dtype[Any], kernel: str) -> None:
    """Refuse a dtype that is not a floating one, in the name of the kernel of PyTorch that refuses it."""
    if name_of(dtype) not in FLOATS:
        name = from_numpy_dtype(dtype).scalar_name
        raise DtypeNotImplementedError(
            f"\"{kernel}\" not implemented for '{name}'; expected one of {', '.join(FLOATS)}"
        )


def significant_bits(dtype: np.dtype[Any]) -> int:
    """How many bits a floating dtype keeps of a number, the leading one included."""
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


def integer_range(dtype: np.dtype[Any], low: int, high: int | None) -> tuple[int, int]:
    """First and last number of `[low, high)` in the dtype; without `high`, up to `largest_integer`."""
    if high is not None and low >= high:
        raise RandomNumberError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    first, last = low, largest_integer(dtype) if high is None else high - 1
    if high is None and low == INT64_MIN and dtype.name in FLOATS and dtype.name != "float16":
        return INT64_MIN, INT64_MAX  # all 64 bits
    if dtype.name in FLOATS:
        # A float of few bits may round the ends out of the range; they move inward to numbers that it holds.
        first = _moved_up(low, dtype)
        last = last if high is None else _moved_down(high, dtype) - 1
        if first > last:
            raise RandomNumberError(
                f"random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={first} >= to={last + 1} for {dtype.name}"
            )
        smallest, largest = -int(FLOATS[dtype.name][1]), int(FLOATS[dtype.name][1])
    else:
        smallest, largest = (0, 1) if dtype == np.bool_ else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    for name, value in (("from", first), ("to - 1", last)):
        if not smallest <= value <= largest:
            raise RandomNumberError(
                f"{name} is out of bounds for {dtype.name}: got {value}, expected a number from {smallest} to {largest}"
            )
    return first, last


def _moved_up(low: int, dtype: np.dtype[Any]) -> int:
    """The first whole number from `low` on that the floating dtype does not round below it."""
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
    """The distance between neighbours of the dtype near a whole number."""
    return 1 << max(abs(value).bit_length() - significant_bits(dtype), 0)
