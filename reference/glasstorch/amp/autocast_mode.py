"""How does a program run a block, or a custom Function, in mixed precision?

Mirrors: torch/amp/autocast_mode.py
Differs: one autocast object can be entered again inside its own block, as a decorated function that calls itself does;
    PyTorch's stays switched on afterwards. There is no backend that a program registers. CUDA devices are taken to
    support bfloat16, as those since compute capability 8.0 do, and others by emulation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.amp.casts import clear_autocast_cache
from glasstorch.amp.settings import shown_name, supported_dtypes
from glasstorch.amp.state import (
    autocast_decrement_nesting,
    autocast_increment_nesting,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from glasstorch.amp.state import is_autocast_available as is_autocast_available
from glasstorch.core.dtype import dtype as dtype_
from glasstorch.core.dtype import float64
from glasstorch.core.errors import DeviceError
from glasstorch.core.user_line import warn_user
from glasstorch.devices.runtime import is_available

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]

F = TypeVar("F", bound=Callable[..., Any])


class autocast:
    """Inside, operators choose their dtype: matrix products use `dtype`, losses float32, most their inputs' dtypes.

    It is a context manager or a decorator, for one type of device. The model and its inputs stay in float32, and the
    backward pass belongs outside: its operators run in the dtypes of the forward ones. `dtype` is bfloat16 on the CPU
    and float16 on CUDA unless it is given. `enabled=False` makes a block that casts nothing inside one that does. Casts
    of weights are kept until the outermost block ends, unless `cache_enabled=False`.

    >>> from glasstorch import ones
    >>> with autocast("cpu"):
    ...     (ones(2, 2) @ ones(2, 2)).dtype
    torch.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtype_ | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise DeviceError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = enabled and self._is_possible()
        self._before: list[tuple[bool, dtype_, bool]] = []  # one entry for each block that this object is in

    def _is_possible(self) -> bool:
        """Whether the device is there and has the dtype; warns if not, since the block will then cast nothing."""
        if self.device == "cuda":
            if not is_available():
                warn_user("CUDA is not available or torch_xla is imported. Disabling autocast.")
                return False
        elif self.fast_dtype not in (supported := supported_dtypes(self.device)):
            name = shown_name(self.device)
            warn_user(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n{name} Autocast only "
                f"supports dtypes of {', '.join(map(str, supported))} currently."
            )
            return False
        return True

    def __enter__(self) -> Self:
        device = self.device
        self._before.append((is_autocast_enabled(device), get_autocast_dtype(device), is_autocast_cache_enabled()))
        set_autocast_enabled(self.device, self._enabled)
        set_autocast_dtype(self.device, self.fast_dtype)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]:
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        on, dtype, cache_enabled = self._before.pop()
        set_autocast_enabled(self.device, on)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(cache_enabled)
        return False

    def __call__(self, func: F) -> F:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use autocast as "
                f"a context manager? For example:\n    with torch.autocast(device_type=...):\n        output = "
                f"model(input)"
            )
        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: F) -> F:
    """The function, run inside an autocast block at each call."""

    @functools.wraps(func)
    def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    decorate_autocast.__script_unsupported = (  # type: ignore[attr-defined]
        "@autocast() decorator is not supported in script mode"
    )
    return decorate_autocast  # type: ignore[return-value]


def _cast(value: Any, device_type: str, dtype: dtype_) -> Any:
    """Cast floating-point tensors, except float64, also inside lists, tuples, dicts and iterators."""
    if isinstance(value, Tensor):
        is_cast = value.is_floating_point() and value.device.type == device_type and value.dtype is not float64
        return value.to(dtype) if is_cast else value
    if isinstance(value, str | bytes | np.ndarray):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, Iterable):
        cast = (_cast(one, device_type, dtype) for one in value)
        return type(value)(cast) if isinstance(value, list | tuple) else cast
    return value


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: dtype_ | None = None) -> Any:
    """Decorate the forward of a custom Function, so that its backward can run under the same autocast.

    With `cast_inputs`, tensors of floating point are cast to it where autocast is on, and forward runs with autocast
    off. Outside of autocast it changes nothing.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        ctx, on = args[0], is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if cast_inputs is None or not on:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Decorate the backward of a custom Function, so that it runs under the autocast that its forward ran under."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd


def _enter_autocast(*vals: Any) -> autocast:
    """Begin a block with these settings, as a captured graph does, and give what ends it."""
    return autocast(*vals).__enter__()


def _exit_autocast(mode: autocast) -> None:
    """End a block."""
    mode.__exit__(None, None, None)
