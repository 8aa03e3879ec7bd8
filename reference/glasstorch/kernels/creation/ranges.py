"""Which numbers do arange, linspace and logspace return?

Mirrors: aten/src/ATen/native/RangeFactories.cpp, aten/src/ATen/native/cpu/RangeFactoriesKernel.cpp
Differs: NumPy computes linspace and logspace on the host, for every device. The floats of linspace are rounded once, at
    the end; PyTorch accumulates inside a vector register, and may differ by a unit or two in the last place. The
    results of logspace equal PyTorch's except for float64 and complex128, where the two libraries' powers differ in the
    last place. Frequencies are also right if `out` is non-contiguous or a matrix, where PyTorch's fft_fftfreq_out
    writes wrong ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.device import device
from glasstorch.core.dtype import (
    BOOL,
    HALF_PRECISION,
    INTEGRAL,
    STORED_ONLY,
    Number,
    dtype,
    float64,
    get_default_dtype,
    int64,
)
from glasstorch.core.errors import ArgumentValueError, ShapeError, not_implemented_for
from glasstorch.core.layout import layout
from glasstorch.core.symbols import SymInt
from glasstorch.core.tensor_impl import Array
from glasstorch.core.user_line import warn_user
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.composite.creation import checked_bounds, range_length
from glasstorch.operators.direct import factory
from glasstorch.operators.generated.functions import arange
from glasstorch.operators.shapes.scalars import number_as

range_step = factory("range.step")
COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)

# arange ---------------------------------------------------------------------------------------------------------


def arange_dtype(start: Number, end: Number, step: Number, wanted: dtype | None) -> dtype:
    """The requested dtype, or else int64 if all numbers are integers, or else the default dtype."""
    if wanted is not None:
        return wanted
    return int64 if all(isinstance(n, int | SymInt) for n in (start, end, step)) else get_default_dtype()


def arange_length(start: Number, end: Number, step: Number, dtype: dtype, label: str = "arange_cpu") -> int:
    """How many numbers lie from `start` up to `end`; for an int64 range, computed in integers.

    `label` is the name of the kernel in the error that refuses a dtype.
    """
    check_counts(label, dtype, complex_too=False)
    if any(isinstance(n, SymInt) for n in (start, end, step)) and dtype is int64 and type(step) is int and step:
        return symbolic_length(start, end, step)
    low, high, pace = checked_bounds(start, end, step)
    if not dtype.is_floating_point:
        first, last, stride = whole(start), whole(end), whole(step)
    if dtype is not int64:
        length = math.ceil((high - low) / pace)
    else:
        if not stride:
            raise ArgumentValueError(f"step must be nonzero; a step of {step} is 0 in int64")
        length = max(-((first - last) // stride), 0)
    if length >= 1 << 63:
        raise ShapeError("invalid size, possible overflow?")
    return length


def symbolic_length(start: Any, end: Any, step: int) -> int:
    """The length of a range of ints between symbols."""
    if bool(end < start) if step > 0 else bool(end > start):
        raise ShapeError("upper bound and lower bound inconsistent with step sign")
    length: int = (end - start + step - (1 if step > 0 else -1)) // step
    return length


def whole(number: Number) -> int:
    """A number truncated to an integer; refused if int64 cannot hold it."""
    if type(number) is int and -(1 << 63) <= number < 1 << 63:
        return number
    return int(number_as(number, int64).real)


def resize_range(out: Tensor, length: int) -> None:
    """Give an out= tensor as many elements as there are numbers; PyTorch's warning where it had others already."""
    if out.numel() == length:
        return
    if out.numel():
        warn_user(
            f"The number of elements in the out tensor of shape {list(out._shape)} is {out.numel()} which does not "
            f"match the computed number of elements {length}. Note that this may occur as a result of rounding error. "
            f"The out tensor will be resized to a tensor of shape ({length},)."
        )
    out.resize_((length,))


def register_arange(
    table: KernelTable, make: Callable[..., Tensor], fill: Callable[..., object], label: str = "arange_cpu"
) -> None:
    """Register `arange` of a backend, and the form that is written to `out`, whose dtype decides.

    `make(start, step, length, dtype, device, pin_memory)` returns the numbers, `fill(out, start, step)` writes them.
    """

    def arange(
        keys: int,
        start: Number,
        end: Number,
        step: Number,
        dtype: dtype | None,
        layout: layout | None,
        device: device | None,
        pin_memory: bool | None,
    ) -> Tensor:
        dtype = arange_dtype(start, end, step, dtype)
        return make(start, step, arange_length(start, end, step, dtype, label), dtype, device, pin_memory)

    def arange_out(keys: int, start: Number, end: Number, step: Number, out: Tensor) -> Tensor:
        resize_range(out, arange_length(start, end, step, out.dtype, label))
        fill(out, start, step)
        return out

    table.add("arange.start_step", arange)
    table.add("arange.start_out", arange_out)


@COMPOSED.impl("arange.out")
def arange_out(end: Number, out: Tensor) -> Tensor:
    """`out`, resized and set to the numbers from 0 up to `end`."""
    return arange(0, end, 1, out=out)


# range ----------------------------------------------------------------------------------------------------------


@COMPOSED.impl("range.out")
def range_out(start: Number, end: Number, step: Number, out: Tensor) -> Tensor:
    """`out`, resized and set to the numbers from `start` up to and including `end`."""
    resize_range(out, range_length(start, end, step, out.dtype))
    made = range_step(start, end, step, out.dtype, None, out.device, None)
    return out.copy_(made.view(out._shape))


@COMPOSED.impl("range.out_")
def range_out_(start: Number, end: Number, out: Tensor) -> Tensor:
    """As `range.out`, in steps of 1."""
    return range_out(start, end, 1, out)


# linspace and logspace ------------------------------------------------------------------------------------------


@COMPOSED.impl("linspace.out")
def linspace_out(start: Number, end: Number, steps: int, out: Tensor) -> Tensor:
    """`out`, resized if the number of elements differs, and set to `steps` numbers from `start` to `end`."""
    check_steps(steps)
    if out.numel() != steps:
        out.resize_((steps,))
    if steps == 1:
        return out.fill_(start)
    return out if out.is_meta or not steps else _fill(out, linspace_numbers(start, end, steps, out.dtype))


@COMPOSED.impl("logspace.out")
def logspace_out(start: Number, end: Number, steps: int, base: float, out: Tensor) -> Tensor:
    """As `linspace.out`, with powers of `base` from `base ** start` to `base ** end`."""
    check_steps(steps)
    if out.numel() != steps:
        out.resize_((steps,))
    if steps == 1:
        kind: Any = out.dtype.numpy.type if out.dtype.is_complex else np.float64
        return out.fill_(quietly(np.power, kind(base), kind(start)).item())
    return out if out.is_meta or not steps else _fill(out, logspace_numbers(start, end, steps, base, out.dtype))


def _fill(out: Tensor, numbers: Array) -> Tensor:
    """Copy numbers of the same dtype into a tensor of any sizes and strides, on any device."""
    return out.copy_(wrap(numbers.reshape(out._shape), out.dtype))


def check_steps(steps: int) -> None:
    """Refuse a negative number of steps."""
    if steps < 0:
        raise ShapeError("number of steps must be non-negative")


def check_counts(label: str, dtype: dtype, complex_too: bool = True) -> None:
    """Refuse a dtype that PyTorch's range kernels do not support."""
    if dtype.category == BOOL or dtype in STORED_ONLY or (dtype.is_complex and not complex_too):
        raise not_implemented_for(label, dtype)


def linspace_numbers(start: Number, end: Number, steps: int, dtype: dtype) -> Array:
    """At least two `steps`: the first half of the numbers is computed from the start, the second half from the end.

    Integers are computed in float64 and truncated; half precision rounds after every operation.
    """
    check_counts("linspace_cpu", dtype)
    counted = float64 if dtype.category == INTEGRAL else dtype
    kind: Any = counted.numpy.type
    # A product and a sum are rounded once, as by the fused instruction that PyTorch's kernel is compiled to.
    wide: Any = {np.float32: np.float64, np.float64: np.longdouble}.get(kind, kind)
    first, last = kind(number_as(start, dtype)), kind(number_as(end, dtype))
    numbers: Array = quietly(_between, first, last, kind((last - first) / kind(steps - 1)), steps, wide)
    return numbers.astype(dtype.numpy)


def _between(first: Any, last: Any, step: Any, steps: int, wide: Any) -> Array:
    indices = np.arange(steps)
    halfway = steps // 2
    rising = wide(first) + wide(step) * indices[:halfway].astype(wide)
    falling = wide(last) - wide(step) * indices[: steps - halfway][::-1].astype(wide)
    numbers: Array = np.concatenate([rising, falling]).astype(type(first))
    return numbers


def logspace_numbers(start: Number, end: Number, steps: int, base: float, dtype: dtype) -> Array:
    """`base` to the power of numbers as in `linspace_numbers`, which are floats even if the result is integer."""
    check_counts("logspace_cpu", dtype)
    own: Any = dtype.numpy.type
    kind: Any = own if dtype.is_complex else np.float64
    first, last = own(number_as(start, dtype)), own(number_as(end, dtype))
    powers = quietly(_powers, kind(base), first, last, kind, steps)
    if dtype in HALF_PRECISION:
        powers = quietly(powers.astype, np.float32)
    return quietly(powers.astype, dtype.numpy)


def _powers(base: Any, first: Any, last: Any, kind: Any, steps: int) -> Array:
    whole = isinstance(first, np.integer)
    way = int(last) - int(first) if whole else last - first  # a float is rounded to its dtype here
    exponents = _between(kind(first), kind(last), kind(way) / kind(steps - 1), steps, kind)
    return np.power(base, exponents)  # type: ignore[no-any-return]
