"""How is a tensor of random elements made for a test?

Mirrors: torch/testing/_creation.py
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.core.dtype import COMPLEX_DTYPES, FLOAT8, FLOATS, bool_, dtype, float32, int64
from glasstorch.core.layout import memory_format
from glasstorch.core.type_info import finfo, iinfo
from glasstorch.operators.generated import functions as f

Bound = float | int | None


def make_tensor(
    *shape: Any,
    dtype: dtype,
    device: str | device,
    low: Bound = None,
    high: Bound = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor whose elements are drawn evenly from [low, high), by default from -9 to 9, or of 0 and 1 for bool.

    `exclude_zero` replaces zeros by 1, or by the smallest normal number. A tensor that is not contiguous has every
    other element of each row.
    """
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        shape = tuple(shape[0])
    is_inexact = dtype in FLOATS or dtype in COMPLEX_DTYPES
    is_exact = not is_inexact and dtype not in FLOAT8
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if requires_grad and is_exact:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    spread = noncontiguous and math.prod(shape) > 1
    if spread:
        shape = (*shape[:-1], 2 * shape[-1])
    least, most = _bounds(low, high, dtype, is_inexact)
    if is_exact:
        result = f.randint(math.ceil(least), math.ceil(most), shape, device=device, dtype=dtype)
    else:
        result = f.empty(shape, device=device, dtype=dtype if is_inexact else float32)
        _fill(f.view_as_real(result) if dtype in COMPLEX_DTYPES else result, least, most)
        result = result.to(dtype)
    if spread:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = 1 if is_exact else finfo(dtype).tiny
    return result.requires_grad_(requires_grad) if is_inexact else result


def _fill(tensor: Tensor, low: float, high: float) -> None:
    """Draw all elements; a range wider than the dtype's largest number is drawn at half its width."""
    if high - low >= finfo(tensor.dtype).max:
        tensor.uniform_(low / 2, high / 2).mul_(2)
    else:
        tensor.uniform_(low, high)


def _bounds(low: Bound, high: Bound, dtype: dtype, is_inexact: bool) -> tuple[Any, Any]:
    """Where elements are drawn from, within what the dtype can hold."""
    least, most, default_low, default_high = _range_of(dtype)
    low, high = default_low if low is None else low, default_high if high is None else high
    if any(isinstance(bound, float) and math.isnan(bound) for bound in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and is_inexact:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 "
            "and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{least}, {most})"
        )
    return min(max(low, least), most), min(max(high, least), most)


def _range_of(dtype: dtype) -> tuple[Any, Any, int, int]:
    """The least and the largest bound of a dtype, and those that it has by default."""
    if dtype is bool_:
        return 0, 2, 0, 2
    if dtype in FLOATS or dtype in COMPLEX_DTYPES or dtype in FLOAT8:
        limits = finfo(dtype)
        return limits.min, limits.max, -9, 9
    whole = iinfo(dtype)
    return whole.min, whole.max + (dtype is not int64), -9, 10
