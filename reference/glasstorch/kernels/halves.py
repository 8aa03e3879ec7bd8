"""How is half precision converted, and computed in float32?

NumPy converts float16 slowly; `cpu/fast/halves.py` does it faster.

Mirrors: c10/util/Half.h (fp16_ieee_to_fp32_value, fp16_ieee_from_fp32_value)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


@slot
def cast(target: Array, source: Array) -> None:
    """`target[...] = source`."""
    target[...] = source


@slot
def as_dtype(array: Any, dtype: np.dtype[Any]) -> Array:
    """An array, or a NumPy scalar, as a row-major array of a dtype: itself if it is one."""
    return np.asarray(array, dtype, order="C")


@slot
def as_single(array: Array) -> Array:
    """A copy in float32 with the same memory order."""
    return array.astype(SINGLE)


def is_half(array: Array) -> bool:
    """Whether the elements are float16 or bfloat16, which NumPy processes slowly and less exactly."""
    return array.dtype.itemsize == 2 and array.dtype.kind not in "iu"


def widened(array: Array) -> Array:
    """Half precision upcast to float32; other arrays unchanged."""
    return as_single.run(array) if is_half(array) else array


@slot
def run_on_halves(run: Callable[..., None], loop: Callable[..., Any], out: Array, inputs: Sequence[Array]) -> None:
    """Run a loop over arrays of half precision, cast to float32 and back by `run(out, inputs)`."""
    run(out, inputs)
