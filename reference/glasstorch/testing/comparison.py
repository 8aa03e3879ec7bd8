"""Are two values close, and if not, how do they differ?

Mirrors: torch/testing/_comparison.py
Differs: functions in place of classes of pairs.
"""

from __future__ import annotations

import cmath
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import (
    BAREBONES_UNSIGNED,
    bfloat16,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    int64,
    promote_types,
)
from glasstorch.operators.generated import functions as f
from glasstorch.outside_data.creation import as_tensor, tensor
from glasstorch.testing.layouts import parts_compared
from glasstorch.testing.mismatches import is_tiny, of_numbers, of_tensors

# The relative and the absolute tolerance for each dtype; others are compared for equality.
TOLERANCES: dict[dtype, tuple[float, float]] = {
    float16: (1e-3, 1e-5),
    bfloat16: (1.6e-2, 1e-5),
    float32: (1.3e-6, 1e-5),
    float64: (1e-7, 1e-7),
    complex64: (1.3e-6, 1e-5),
    complex128: (1e-7, 1e-7),
}
OLDER_TOLERANCES = {float16: (1e-3, 1e-3), float32: (1e-4, 1e-5), float64: (1e-5, 1e-8)}
OF_NUMBERS: dict[type, dtype] = {int: int64, float: float64, complex: complex128}


class Options(NamedTuple):
    """What counts as close."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool
    msg: str | Callable[[str], str] | None

    def fail(self, kind: type[Exception], words: str, place: tuple[Any, ...]) -> NoReturn:
        """Raise with the user's message, or with these words and the place within a sequence or mapping."""
        if isinstance(self.msg, str) and kind is AssertionError:
            raise kind(self.msg)
        if place:
            words += f"\n\nThe failure occurred for item {''.join(str([item]) for item in place)}"
        raise kind(self.msg(words) if callable(self.msg) and kind is AssertionError else words)

    def tolerances(self, place: tuple[Any, ...], *dtypes: dtype) -> tuple[float, float]:
        """The relative and the absolute tolerance: those given, or the looser ones of the dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        if self.rtol is not None or self.atol is not None:
            missing = "rtol" if self.rtol is None else "atol"
            words = f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}."
            self.fail(ValueError, words, place)
        relative, absolute = zip(*(TOLERANCES.get(one, (0.0, 0.0)) for one in dtypes), strict=True)
        return max(relative), max(absolute)


class Pair(NamedTuple):
    """Two values that are compared, where they stand, and how."""

    actual: Any
    expected: Any
    place: tuple[Any, ...]
    compare: Callable[[Any, Any, tuple[Any, ...], Options], None]


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless `|actual - expected| <= atol + rtol * |expected|` for each element.

    Compared are tensors and what can become one, numbers, booleans, None, and sequences and mappings of these. The
    tolerances are those of the dtype unless both are given; infinities match themselves, and NaN does if `equal_nan`.
    Shapes are equal, and so are devices, dtypes and layouts where they are checked. `msg` replaces what the error says,
    or makes it of that.
    """
    __tracebackhide__ = True
    options = Options(
        allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, msg
    )
    for pair in list(_pairs(actual, expected, (), options)):
        pair.compare(pair.actual, pair.expected, pair.place, options)


def _pairs(actual: Any, expected: Any, place: tuple[Any, ...], options: Options) -> Iterator[Pair]:
    """The values of two structures that are compared with each other."""
    if all(isinstance(one, Sequence) and not isinstance(one, str) for one in (actual, expected)):
        if len(actual) != len(expected):
            words = f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            options.fail(AssertionError, words, place)
        for index in range(len(actual)):
            yield from _pairs(actual[index], expected[index], (*place, index), options)
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        keys = set(actual)
        if keys != set(expected):
            missing, more = sorted(set(expected) - keys), sorted(keys - set(expected))
            words = (
                f"The keys of the mappings do not match:\nMissing keys in the actual mapping: {missing}\n"
                f"Additional keys in the actual mapping: {more}"
            )
            options.fail(AssertionError, words, place)
        ordered = list(keys)
        with suppress(TypeError):  # keys without an order
            ordered = sorted(keys)
        for key in ordered:
            yield from _pairs(actual[key], expected[key], (*place, key), options)
    else:
        yield _pair(actual, expected, place, options)


def _pair(actual: Any, expected: Any, place: tuple[Any, ...], options: Options) -> Pair:
    """How two values that are neither sequences nor mappings are compared."""
    if actual is None or expected is None:
        return Pair(actual, expected, place, _compare_none)
    if _are(bool | np.bool_, actual, expected):
        return Pair(bool(actual), bool(expected), place, _compare_booleans)
    numeric = int | float | complex | np.number
    if _are(numeric, actual, expected):
        mine, theirs = (one.item() if isinstance(one, np.number) else one for one in (actual, expected))
        return Pair(mine, theirs, place, _compare_numbers)
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if related and (options.allow_subclasses or type(actual) is type(expected)):
        mine, theirs = map(_as_tensor, (actual, expected))
        if mine is not None and theirs is not None:
            options.tolerances(place, mine.dtype, theirs.dtype)
            return Pair(mine, theirs, place, _compare_tensors)
    words = f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    return options.fail(TypeError, words, place)


def _are(kinds: Any, *values: Any) -> bool:
    return all(isinstance(value, kinds) for value in values)


def _as_tensor(value: Any) -> Tensor | None:
    """A tensor, or what can become one."""
    if isinstance(value, Tensor):
        return value
    try:
        return as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def _compare_none(actual: Any, expected: Any, place: tuple[Any, ...], options: Options) -> None:
    if actual is not expected:
        options.fail(AssertionError, f"None mismatch: {actual} is not {expected}", place)


def _compare_booleans(actual: bool, expected: bool, place: tuple[Any, ...], options: Options) -> None:
    if actual is not expected:
        options.fail(AssertionError, f"Booleans mismatch: {actual} is not {expected}", place)


def _compare_numbers(actual: Any, expected: Any, place: tuple[Any, ...], options: Options) -> None:
    rtol, atol = options.tolerances(place, *(OF_NUMBERS.get(type(one), int64) for one in (actual, expected)))
    if options.check_dtype and type(actual) is not type(expected):
        options.fail(AssertionError, f"The (d)types do not match: {type(actual)} != {type(expected)}.", place)
    if actual == expected or (options.equal_nan and cmath.isnan(actual) and cmath.isnan(expected)):
        return
    difference = abs(actual - expected)
    if not cmath.isfinite(difference) or difference > atol + rtol * abs(expected):
        options.fail(AssertionError, of_numbers(actual, expected, rtol, atol), place)


def _compare_tensors(actual: Tensor, expected: Tensor, place: tuple[Any, ...], options: Options) -> None:
    rtol, atol = options.tolerances(place, actual.dtype, expected.dtype)
    for name, mine, theirs, is_checked in (
        ("shape", actual.shape, expected.shape, True),
        ("layout", actual.layout, expected.layout, options.check_layout),
        ("stride()", *_strides(actual, expected, options.check_stride), options.check_stride),
        ("device", actual.device, expected.device, options.check_device),
        ("dtype", actual.dtype, expected.dtype, options.check_dtype),
    ):
        if is_checked and mine != theirs:
            words = f"The values for attribute '{name}' do not match: {mine} != {theirs}."
            options.fail(AssertionError, words, place)
    if "meta" in (actual.device.type, expected.device.type):
        return
    actual, expected = _alike(actual.detach(), expected.detach())
    for what, mine, theirs, is_exact in parts_compared(actual, expected, options, place):
        exactly = (0.0, 0.0) if is_exact else (rtol, atol)
        _compare_elements(what, mine, theirs, place, *exactly, options)


def _strides(actual: Tensor, expected: Tensor, is_checked: bool) -> tuple[Any, Any]:
    """The strides, if they are checked: tensors of some layouts have none."""
    return (actual.stride(), expected.stride()) if is_checked else (None, None)


def _compare_elements(
    what: str, actual: Tensor, expected: Tensor, place: tuple[Any, ...], rtol: float, atol: float, options: Options
) -> None:
    """Compare each element of two strided tensors, which are called `what`."""
    if is_tiny(actual) and (rtol != 0.0 or atol != 0.0):
        words = (
            f"Rtol={rtol} and atol={atol} are not supported for bitwise comparison of low dimensional floats. Please "
            "use rtol=0.0 and atol=0.0."
        )
        options.fail(AssertionError, words, place)
    matches = f.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
    if f.all(matches):
        return
    if not actual.shape:
        words = of_numbers(actual.item(), expected.item(), rtol, atol)
    else:
        words = of_tensors(actual, expected, matches, rtol, atol, what)
    options.fail(AssertionError, words, place)


def _alike(actual: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
    """Both on one device and of one dtype, as far as they were not checked."""
    if actual.device != expected.device:
        actual, expected = actual.cpu(), expected.cpu()
    if actual.dtype != expected.dtype:
        mine, theirs = (int64 if one.dtype in BAREBONES_UNSIGNED else one.dtype for one in (actual, expected))
        common = promote_types(mine, theirs)
        actual, expected = actual.to(common), expected.to(common)
    return actual, expected


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older form of assert_close, with looser tolerances; deprecated."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please "
        "use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    mine = actual if isinstance(actual, Tensor) else tensor(actual)
    theirs = expected if isinstance(expected, Tensor) else tensor(expected, dtype=mine.dtype)
    if rtol is None and atol is None:
        each = [OLDER_TOLERANCES.get(one.dtype, (0.0, 0.0)) for one in (mine, theirs)]
        rtol, atol = max(relative for relative, _ in each), max(absolute for _, absolute in each)
    assert_close(mine, theirs, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)
