"""How are tensors copied to several devices, added up and put together?

Mirrors: torch/nn/parallel/comm.py, torch/csrc/cuda/comm.cpp
Differs: copies and sums are ordinary operators, which autograd records. Complex tensors stay complex.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.nn.parallel.devices import device_at, index_of
from glasstorch.operators.generated import functions as operators

BUFFER_SIZE = 10485760  # PyTorch's default; here tensors are copied one by one


def broadcast(tensor: Tensor, devices: Iterable[Any] | None = None, *, out: Sequence[Tensor] | None = None) -> Any:
    """A copy of a tensor on each device, or in each tensor of `out`; a copy to where the tensor is, is itself."""
    if (devices is None) == (out is None):
        raise RuntimeError(
            f"Exactly one of 'devices' and 'out' must be specified, but got devices={devices} and out={out}"
        )
    if devices is not None:
        return tuple(tensor.to(device_at(index_of(device))) for device in devices)
    return tuple(one.copy_(tensor) for one in out or ())


def broadcast_coalesced(tensors: Iterable[Tensor], devices: Iterable[Any], buffer_size: int = BUFFER_SIZE) -> Any:
    """For each device a list of copies of all tensors."""
    indices = [index_of(device) for device in devices]
    given = list(tensors)
    return tuple([tensor.to(device_at(index)) for tensor in given] for index in indices)


def reduce_add(inputs: Sequence[Tensor], destination: Any = None) -> Tensor:
    """The sum of tensors of the same sizes on several devices, on the device of one of them."""
    destination = index_of(destination, optional=True)
    sizes, root = inputs[0].size(), None
    for i, tensor in enumerate(inputs):
        if tensor.device.type == "cpu":
            raise AssertionError(f"reduce_add expects all inputs to be on GPUs, but input {i} is on CPU")
        if tensor.get_device() == destination:
            root = i
        if tensor.size() != sizes:
            got, expected = "x".join(map(str, tensor.size())), "x".join(map(str, sizes))
            raise ValueError(f"input {i} has invalid size: got {got}, but expected {expected}")
    if root is None:
        raise RuntimeError("reduce_add expects destination to be on the same GPU with one of the tensors")
    result = inputs[root]
    for i, tensor in enumerate(inputs):
        if i != root:
            result = result + tensor.to(result.device)
    return result


def reduce_add_coalesced(
    inputs: Iterable[Iterable[Tensor]], destination: Any = None, buffer_size: int = BUFFER_SIZE
) -> Any:
    """The sums of the first tensors of all devices, of the second ones, and so on."""
    return tuple(reduce_add(group, destination) for group in zip(*inputs, strict=True))


def scatter(
    tensor: Tensor,
    devices: Iterable[Any] | None = None,
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: Any = None,
    *,
    out: Sequence[Tensor] | None = None,
) -> Any:
    """The parts of a tensor along a dimension, each on another device, or in the tensors of `out`."""
    if out is None:
        assert devices is not None
        indices = [index_of(device) for device in devices]
        parts = tensor.chunk(len(indices), dim) if chunk_sizes is None else tensor.split(list(chunk_sizes), dim)
        return tuple(part.to(device_at(index)) for part, index in zip(parts, indices, strict=False))
    for name, given in (("devices", devices), ("chunk_sizes", chunk_sizes)):
        if given is not None:
            raise RuntimeError(f"'{name}' must not be specified when 'out' is specified, but got {name}={given}")
    parts = tensor.split([one.size(dim) for one in out], dim)
    return tuple(one.copy_(part) for one, part in zip(out, parts, strict=True))


def gather(tensors: Iterable[Tensor], dim: int = 0, destination: Any = None, *, out: Tensor | None = None) -> Tensor:
    """Tensors of several devices put together along a dimension on one device, the current one by default."""
    if out is None:
        if destination == -1:
            warnings.warn(
                "Using -1 to represent CPU tensor is deprecated. Please use a device object or string instead, e.g., "
                '"cpu".',
                FutureWarning,
                stacklevel=2,
            )
        target = device_at(index_of(destination, allow_cpu=True, optional=True))
        return operators.cat([tensor.to(target) for tensor in tensors], dim)
    if destination is not None:
        raise RuntimeError(
            f"'destination' must not be specified when 'out' is specified, but got destination={destination}"
        )
    return out.copy_(operators.cat([tensor.to(out.device) for tensor in tensors], dim))
