"""How does a module compute a batch on several devices?

Mirrors: torch/nn/parallel/data_parallel.py
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import chain
from typing import Any, Generic, TypeVar

from glasstorch.autograd.modes import is_grad_enabled
from glasstorch.core.device import device as Device
from glasstorch.devices import runtime
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parallel.devices import available_device_type, device_at, index_of
from glasstorch.nn.parallel.parallel_apply import parallel_apply
from glasstorch.nn.parallel.replicate import replicate
from glasstorch.nn.parallel.scatter_gather import gather, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]

M = TypeVar("M", bound=Module)

LEAST_SHARE = 0.75  # of the best device's memory and processors that another should have


def _check_balance(device_ids: Sequence[Any]) -> None:
    """Warn of a device with much less memory, or else with many fewer processors, than another."""
    indices = [index_of(device, True) for device in device_ids]
    for fact in ("total_memory", "multi_processor_count"):
        values = [getattr(runtime.driver().properties(index), fact) for index in indices]
        least, most = (values.index(value) for value in (min(values), max(values)))
        if values[least] / values[most] < LEAST_SHARE:
            warnings.warn(
                f"""
    There is an imbalance between your GPUs. You may want to exclude GPU {indices[least]} which
    has less than 75% of the memory or cores of GPU {indices[most]}. You can do so by setting
    the device_ids argument to DataParallel, or by setting the CUDA_VISIBLE_DEVICES
    environment variable.""",
                stacklevel=3,
            )
            return


class DataParallel(Module, Generic[M]):
    """A module that splits its batch over devices, computes each part with a copy of `module`, and joins the results.

    Without a device it calls `module` as it is. With one device the module is moved there, and so are the inputs.
    """

    def __init__(
        self, module: M, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        if available_device_type() is None:
            self.module = module
            self.device_ids: list[int] = []
            return
        if device_ids is None:
            device_ids = list(range(runtime.device_count()))
        if output_device is None:
            output_device = device_ids[0]
        self.dim = dim
        self.module = module
        self.device_ids = [index_of(device, True) for device in device_ids]
        self.output_device = index_of(output_device, True)
        self.src_device_obj = device_at(self.device_ids[0])
        _check_balance(self.device_ids)
        if len(self.device_ids) == 1:
            self.module.to(self.src_device_obj)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """The module's result for the whole batch, on `output_device`."""
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        _check_place(self.module, self.src_device_obj)
        parts, named = self.scatter(inputs, kwargs, self.device_ids)
        if not parts and not named:
            parts, named = ((),), ({},)
        if len(self.device_ids) == 1:
            return self.module(*parts[0], **named[0])
        replicas = self.replicate(self.module, self.device_ids[: len(parts)])
        return self.gather(self.parallel_apply(replicas, parts, named), self.output_device)

    def replicate(self, module: M, device_ids: Sequence[Any]) -> list[M]:
        """A copy of the module for each device."""
        return replicate(module, device_ids, not is_grad_enabled())

    def scatter(self, inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, device_ids: Sequence[Any]) -> Any:
        """The arguments for each device."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas: Sequence[M], inputs: Sequence[Any], kwargs: Any) -> list[Any]:
        """The result of each copy."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[: len(replicas)])

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """All results as one."""
        return gather(outputs, output_device, dim=self.dim)


def _check_place(module: Module, device: Device) -> None:
    for tensor in chain(module.parameters(), module.buffers()):
        if tensor.device != device:
            raise RuntimeError(
                f"module must have its parameters and buffers on device {device} (device_ids[0]) but found one of "
                f"them on device: {tensor.device}"
            )


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: Any | None = None,
) -> Any:
    """What DataParallel computes, as a function; RuntimeError where there is no device."""
    given = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    if available_device_type() is None:
        raise RuntimeError("device type could not be determined")
    if device_ids is None:
        device_ids = list(range(runtime.device_count()))
    target = index_of(device_ids[0] if output_device is None else output_device, True)
    indices = [index_of(device, True) for device in device_ids]
    _check_place(module, device_at(indices[0]))
    parts, named = scatter_kwargs(given, module_kwargs, indices, dim)
    if not parts and not named:
        parts, named = ((),), ({},)
    if len(indices) == 1:
        return module(*parts[0], **named[0])
    used = indices[: len(parts)]
    return gather(parallel_apply(replicate(module, used), parts, named, used), target, dim)
