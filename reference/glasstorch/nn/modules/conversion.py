"""How do a module's tensors change their dtype, device or memory format?

Mirrors: torch/nn/modules/module.py (Module._apply, Module.to), torch/csrc/autograd/utils/python_arg_parsing.h
    (parse_to_conversion)
Differs: what becomes of a parameter, which `torch.__future__` may choose, is in a file of its own (replacement.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.device import device_from
from glasstorch.core.dtype import FLOATING, dtype
from glasstorch.core.layout import memory_format
from glasstorch.nn.modules.replacement import replaced

Change = Callable[[Tensor], Tensor]


def apply_to_own_tensors(module: Any, fn: Change) -> None:
    """Replace a module's parameters, their gradients and its buffers by the results of `fn`; not those of children."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            module._parameters[name] = replaced(parameter, fn, f"{module._get_name()}.{name}")
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = fn(buffer)


class Target(NamedTuple):
    """What `Module.to` is asked for; None for what stays."""

    device: Device | None
    dtype: dtype | None
    non_blocking: bool
    memory_format: memory_format | None


def target_of(
    *args: Any,
    device: Device | str | int | None = None,
    dtype: Any = None,
    non_blocking: bool = False,
    memory_format: memory_format | None = None,
    tensor: Tensor | None = None,
) -> Target:
    """The arguments of `Module.to`: a device, a dtype, both, or a tensor that has both."""
    given = list(args)
    if given and isinstance(given[0], Tensor):
        tensor = given.pop(0)
    elif given and (given[0] is None or isinstance(given[0], str | Device | int)):
        device = given.pop(0)
        dtype = given.pop(0) if given else dtype
    elif given:
        dtype = given.pop(0)
    non_blocking = given.pop(0) if given else non_blocking
    if tensor is not None:
        device, dtype = tensor.device, tensor.dtype
    _check(dtype)
    if isinstance(device, int):
        device = device_from("cuda", device)
    return Target(None if device is None else device_from(device), dtype, non_blocking, memory_format)


def _check(target: Any) -> None:
    if target is None:
        return
    if not isinstance(target, dtype):
        raise TypeError(f"to() received an invalid argument {target!r}; expected a device, a dtype or a tensor")
    if target.category < FLOATING:
        raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={target}")
    if target.is_complex:
        warnings.warn(
            "Complex modules are a new feature under active development whose design may change, and some modules "
            "might not work as expected when using complex tensors as parameters or buffers.",
            stacklevel=4,
        )


def converted(tensor: Tensor, target: Target) -> Tensor:
    """One tensor of a module after `Module.to`: integers keep their dtype, and only images and volumes their format."""
    wanted = target.dtype if target.dtype is not None and tensor.dtype.category >= FLOATING else tensor.dtype
    device = tensor.device if target.device is None else target.device
    format = (
        {} if target.memory_format is None or tensor.dim() not in (4, 5) else {"memory_format": target.memory_format}
    )
    try:
        return tensor.to(device, wanted, target.non_blocking, **format)
    except NotImplementedError as error:
        if not str(error).startswith("Cannot copy out of meta tensor; no data!"):
            raise
        raise NotImplementedError(
            "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
            "torch.nn.Module.to() when moving module from meta to a different device."
        ) from None
