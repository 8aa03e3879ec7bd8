"""How are window functions computed?

Mirrors: aten/src/ATen/native/TensorFactories.cpp (bartlett_window ... kaiser_window, window_function_checks)
Differs: NumPy computes them on the host in float64 and rounds once; PyTorch rounds after every step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import FLOAT8, dtype, float64, get_default_dtype
from glasstorch.core.errors import ShapeError, not_implemented_for
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)


def hamming(length: int, alpha: float = 0.54, beta: float = 0.46) -> Array:
    """`alpha - beta * cos(2 * pi * i / (length - 1))`."""
    cosines: Array = np.cos(np.arange(length) * (2 * np.pi / (length - 1)))
    return alpha - beta * cosines


def kaiser(length: int, beta: float = 12.0) -> Array:
    """A window from the modified Bessel function of order 0."""
    return np.kaiser(length, beta)


# operator -> its window of at least two points, from the length and the arguments after `periodic`
WINDOWS: dict[str, Callable[..., Array]] = {
    "bartlett_window": np.bartlett,
    "blackman_window": np.blackman,
    "hann_window": np.hanning,
    "hamming_window": hamming,
    "kaiser_window": kaiser,
}
OVERLOADS = {"hamming_window": ("periodic_alpha", "periodic_alpha_beta"), "kaiser_window": ("beta",)}


def window(name: str) -> Callable[..., Tensor]:
    """The kernel of all overloads: length, optionally `periodic` and parameters, then the tensor options."""

    def kernel(window_length: int, *rest: Any) -> Tensor:
        *given, dtype, _layout, device, pin_memory = rest
        periodic, *parameters = given or (True,)
        wanted = check_window(name, window_length, dtype)
        if window_length < 2:
            numbers: Array = np.ones(window_length)
        else:  # a periodic window is a window one point longer, without its last point
            numbers = WINDOWS[name](window_length + bool(periodic), *parameters)[:window_length]
        return placed(numbers, wanted, device, pin_memory)

    return kernel


def check_window(name: str, length: int, dtype: dtype | None) -> dtype:
    """The dtype of a window; refuses a negative length and dtypes that are not floating point."""
    wanted = get_default_dtype() if dtype is None else dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        raise ShapeError(f"{name} expects floating point dtypes, got: {wanted}")
    if length < 0:
        raise ShapeError(f"{name} requires non-negative window_length, got window_length={length}")
    if length > 1 and (wanted.is_complex or wanted in FLOAT8):
        raise not_implemented_for("arange_cpu", wanted)
    return wanted


def placed(numbers: Array, wanted: dtype, device: Device | None, pin_memory: bool | None) -> Tensor:
    """float64 numbers as a tensor of a dtype on a device."""
    made = wrap(np.ascontiguousarray(numbers), float64).to(wanted)
    if pin_memory:
        made = made.pin_memory()
    return made if device is None else made.to(device)


for _name in WINDOWS:
    _kernel = window(_name)
    _kernel.__name__ = _kernel.__qualname__ = _name
    for _overload in ("", ".periodic", *(f".{overload}" for overload in OVERLOADS.get(_name, ()))):
        COMPOSED.add(_name + _overload, _kernel)
