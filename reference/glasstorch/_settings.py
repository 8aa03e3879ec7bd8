"""What does a program set for the whole process?

Mirrors: torch/__init__.py (use_deterministic_algorithms, set_float32_matmul_precision, ...), aten/src/ATen/Context.cpp,
    aten/src/ATen/ParallelNative.cpp (set_num_interop_threads)
Differs: most of it is kept and changes nothing, because there is nothing to choose: kernels on the CPU are
    deterministic, products are computed in the dtype of their tensors, subnormal numbers are never flushed to zero, and
    no tasks run beside each other. On CUDA, adding at indices that repeat is not deterministic, and is not refused.
"""

from __future__ import annotations

import sys
import warnings
from types import ModuleType
from typing import Any, Final

from glasstorch import cpu, cuda
from glasstorch.backends import _switches
from glasstorch.core import private_use, warn_once
from glasstorch.core.device import chosen_device, device
from glasstorch.core.device import device as Device
from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.kernels.creation.known_memory import determinism, fill_unwritten

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_device_module",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always",
    "use_deterministic_algorithms",
]

# How exact a product of float32 must be -> the precisions that cuBLAS and oneDNN are allowed then.
MATMUL: Final = {"highest": ("ieee", "ieee"), "high": ("tf32", "tf32"), "medium": ("tf32", "bf16")}
MODULES: Final = {"cpu": cpu, "cuda": cuda}
DEBUG_MODES: Final = ("default", "warn", "error")  # by number


class _Settings:
    """What was set."""

    fills = True  # new memory, where results are deterministic
    interop_threads: int | None = None


def get_float32_matmul_precision() -> str:
    """How exact products of float32 matrices must be: "highest", "high" or "medium"."""
    allowed = _switches.precision_of("cuda", "matmul"), _switches.precision_of("mkldnn", "matmul")
    if allowed[0] != "tf32":
        return "highest"
    return "medium" if allowed[1] == "bf16" else "high"


def set_float32_matmul_precision(precision: str) -> None:
    """Set how exact products of float32 matrices must be; they are exact whatever is set."""
    if precision not in MATMUL:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call has "
            "no effect.",
            UserWarning,
            stacklevel=2,
        )
        return
    for library, allowed in zip(("cuda", "mkldnn"), MATMUL[precision], strict=True):
        _switches.set_precision(library, "matmul", allowed)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results in every run, which kernels on the CPU give anyway.

    New memory on the CPU is filled, unless `fill_uninitialized_memory` in
    `torch.utils.deterministic` is False.
    """
    for name, value in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(value, bool):
            raise ArgumentTypeError(
                f"use_deterministic_algorithms(): argument '{name}' must be bool, not {type(value).__name__}"
            )
    _set_deterministic(mode, warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether the same results in every run have been asked for."""
    return determinism.asked


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether an operator that may give others should only warn."""
    return determinism.warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Ask for the same results in every run: "default" or 0 does not, "warn" or 1 warns, "error" or 2 refuses."""
    if not isinstance(debug_mode, int | str):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in DEBUG_MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = DEBUG_MODES.index(debug_mode)
    if not 0 <= debug_mode < len(DEBUG_MODES):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    _set_deterministic(debug_mode > 0, debug_mode == 1)


def _set_deterministic(mode: bool, warn_only: bool) -> None:
    determinism.asked, determinism.warn_only = mode, warn_only
    fill_unwritten(mode and _Settings.fills)


def _get_deterministic_fill_uninitialized_memory() -> bool:
    """Whether new memory is filled while the same results in every run are asked for."""
    return _Settings.fills


def _set_deterministic_fill_uninitialized_memory(mode: bool) -> None:
    """Let new memory be filled while the same results in every run are asked for, or not."""
    if not isinstance(mode, bool):
        raise ArgumentError(f"expected a bool, but got {type(mode).__name__}")
    _Settings.fills = mode
    fill_unwritten(mode and determinism.asked)


def get_deterministic_debug_mode() -> int:
    """What has been asked for: 0, 1 or 2, as `set_deterministic_debug_mode` counts."""
    return (1 if determinism.warn_only else 2) if determinism.asked else 0


def get_num_interop_threads() -> int:
    """How many tasks could run beside each other: the number set, else one for each processor."""
    import os

    return _Settings.interop_threads or os.cpu_count() or 1


def set_num_interop_threads(num: int, /) -> None:
    """Set how many tasks could run beside each other; none do. It can be set once."""
    if type(num) is not int:
        raise ArgumentError(f"set_num_interop_threads expects an int, but got {type(num).__name__}")
    if num < 1:
        raise ArgumentError("set_num_interop_threads expects a positive integer")
    if _Settings.interop_threads is not None:
        raise ArgumentError(
            "Error: cannot set number of interop threads after parallel work has started or set_num_interop_threads "
            "called"
        )
    _Settings.interop_threads = num


def set_flush_denormal(mode: bool, /) -> bool:
    """Ask that subnormal numbers count as zero; returns whether that can be done: no."""
    return False


def set_warn_always(b: bool, /) -> None:
    """Let warnings that are given once be given each time."""
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    warn_once.always.on = b


def is_warn_always_enabled() -> bool:
    """Whether warnings that are given once are given each time."""
    return warn_once.always.on


def get_default_device() -> device:
    """The device of tensors that are made without saying where: the CPU, unless another one was chosen."""
    on = chosen_device() or Device("cpu")
    return private_use.with_index(on)


def get_device_module(device: Any = None) -> ModuleType:
    """The module of a device's type, such as `torch.cuda`; without one, that of the accelerator, or else of the CPU."""
    if device is None and private_use.is_accelerator():
        private_use.answers()
        return get_device_module(private_use.name())
    if device is None:
        return cuda if cuda.is_available() else cpu
    if not isinstance(device, str | Device):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    kind = Device(device).type
    if kind == private_use.name() and private_use.registered.module is not None:
        return private_use.registered.module  # type: ignore[no-any-return]
    if kind not in MODULES:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return MODULES[kind]


def _register_device_module(device_type: Any, module: Any) -> None:
    """Make a module, or an object with its functions, `torch.NAME`: the module of the device that a program brings."""
    kind, space = Device(device_type).type, sys.modules[__package__]
    if kind in vars(space):
        raise RuntimeError(f"The runtime module of '{kind}' has already been registered with '{vars(space)[kind]}'")
    setattr(space, kind, module)
    for name in (__package__, "torch"):
        if sys.modules.get(name) is space:
            sys.modules[f"{name}.{kind}"] = module
    if kind == private_use.name():
        private_use.register_module(module)
