"""How do several modules run, each on its device?

Mirrors: torch/nn/parallel/parallel_apply.py, torch/_utils.py (ExceptionWrapper)
Differs: one after the other, on the current streams; kernels on devices run side by side all the same.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.devices import runtime
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parallel.devices import index_of

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj: Any) -> Tensor | None:
    """The first tensor in tuples, lists and dictionaries."""
    if isinstance(obj, Tensor):
        return obj
    inside = obj.items() if isinstance(obj, dict) else obj if isinstance(obj, list | tuple) else ()
    return next((found for found in map(get_a_var, inside) if found is not None), None)


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Any]:
    """The results of each module for its input, which is one argument, or a tuple or list of them.

    Without `devices` a module runs on the device of the first tensor of its input.
    """
    for what, given in (("inputs", inputs), ("kwargs_tup", kwargs_tup), ("devices", devices)):
        if given is not None and len(modules) != len(given):
            raise AssertionError(
                f"The number of modules {len(modules)} is not equal to the number of {what} {len(given)}"
            )
    if not runtime.is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")
    where = [None] * len(modules) if devices is None else [index_of(device, True) for device in devices]
    named = [{} for _ in modules] if kwargs_tup is None else kwargs_tup
    calls = zip(modules, inputs, named, where, strict=True)
    return [_call(i, *call) for i, call in enumerate(calls)]


def _call(i: int, module: Module, input: Any, kwargs: dict[str, Any], device: Any) -> Any:
    if device is None:
        found = get_a_var(input)
        device = runtime.current_device() if found is None else found.get_device()
    index: Any = device.index if isinstance(device, Device) else device
    before = runtime.current_device()
    runtime.set_device(index)
    try:
        return module(*(input if isinstance(input, list | tuple) else (input,)), **kwargs)
    except Exception as error:
        message = f"Caught {type(error).__name__} in replica {i} on device {index}.\nOriginal {traceback.format_exc()}"
        try:
            told: Exception = type(error)(message)
        except Exception:  # noqa: BLE001 (an exception that wants other arguments)
            told = RuntimeError(message)
        raise told from error
    finally:
        runtime.set_device(before)
