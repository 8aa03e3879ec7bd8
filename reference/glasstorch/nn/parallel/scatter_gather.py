"""How is a batch spread over devices, and are the results put together again?

Mirrors: torch/nn/parallel/scatter_gather.py, torch/nn/parallel/_functions.py (Scatter, Gather)
Differs: no functions of autograd's own; the operators that copy are recorded.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.nn.parallel import comm
from glasstorch.nn.parallel.devices import index_of

__all__ = ["scatter", "scatter_kwargs", "gather"]


def _is_namedtuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_asdict") and hasattr(value, "_fields")


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """For each device its part of every tensor in tuples, lists and dictionaries; other objects are shared.

    One tensor gives a tuple, anything else a list.
    """
    if isinstance(inputs, Tensor):
        return comm.scatter(inputs, [index_of(device, True) for device in target_gpus], None, dim)
    many = isinstance(inputs, tuple | list | dict) and len(inputs) > 0
    if not many and not _is_namedtuple(inputs):
        return [inputs for _ in target_gpus]
    values = inputs.items() if isinstance(inputs, dict) else inputs
    parts = zip(*(scatter(value, target_gpus, dim) for value in values), strict=False)
    if _is_namedtuple(inputs):
        return [type(inputs)(*part) for part in parts]
    if isinstance(inputs, dict):
        return [type(inputs)(part) for part in parts]
    return [list(part) for part in parts] if isinstance(inputs, list) else list(parts)


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """For each device its part of the positional and of the keyword arguments, equally many of both."""
    by_position = scatter(inputs, target_gpus, dim) if inputs else []
    by_name = scatter(kwargs, target_gpus, dim) if kwargs else []
    if len(by_position) < len(by_name):
        by_position.extend(() for _ in range(len(by_name) - len(by_position)))
    elif len(by_name) < len(inputs):
        by_name.extend({} for _ in range(len(by_position) - len(by_name)))
    return tuple(by_position), tuple(by_name)


def gather(outputs: Any, target_device: Any, dim: int = 0) -> Any:
    """The results of several devices as one on `target_device`: tensors along a dimension, also in containers."""
    first = outputs[0]
    if isinstance(first, Tensor):
        return _gathered(outputs, target_device, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        if not all(len(first) == len(other) for other in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((key, gather([one[key] for one in outputs], target_device, dim)) for key in first)
    parts = (gather(part, target_device, dim) for part in zip(*outputs, strict=True))
    return type(first)._make(parts) if _is_namedtuple(first) else type(first)(parts)


def _gathered(tensors: Sequence[Tensor], target_device: Any, dim: int) -> Tensor:
    if not all(tensor.device.type != "cpu" for tensor in tensors):
        raise AssertionError("Gather function not implemented for CPU tensors")
    if all(tensor.dim() == 0 for tensor in tensors) and dim == 0:
        tensors = tuple(tensor.view(1) for tensor in tensors)
        warnings.warn(
            "Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze and "
            "return a vector.",
            stacklevel=3,
        )
    return comm.gather(tensors, dim, target_device if target_device == "cpu" else index_of(target_device, True))
