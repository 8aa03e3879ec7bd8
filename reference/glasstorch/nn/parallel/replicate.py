"""How is a module copied to several devices?

Mirrors: torch/nn/parallel/replicate.py
Differs: there are no script modules, so any module can be copied.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parallel import comm
from glasstorch.nn.parallel.devices import index_of

__all__ = ["replicate"]

M = TypeVar("M", bound=Module)


def replicate(network: M, devices: Sequence[Any], detach: bool = False) -> list[M]:
    """A copy of a module for each device. Its parameters are no leaves: gradients go on to the module's own.

    They are plain attributes of the copies; `parameters()` of a copy is empty. With `detach` nothing is recorded.
    """
    if not devices:
        return []
    indices = [index_of(device, True) for device in devices]
    parameters = _copies(list(network.parameters()), indices, detach)
    recorded = [buffer for buffer in network.buffers() if buffer.requires_grad and not detach]
    buffers = _copies(recorded, indices, detach)
    buffers |= _copies([b for b in network.buffers() if id(b) not in buffers], indices, detach=True)
    modules = list(network.modules())
    copies: list[Any] = []
    for at in range(len(indices)):
        replicas: dict[int, Any] = {id(module): module._replicate_for_data_parallel() for module in modules}
        for module in modules:
            _fill(replicas[id(module)], module, replicas, at, parameters, buffers)
        copies.append(replicas[id(network)])
    return copies


def _fill(
    replica: Any,
    module: Module,
    replicas: dict[int, Any],
    at: int,
    parameters: dict[int, list[Tensor]],
    buffers: dict[int, list[Tensor]],
) -> None:
    replica._former_parameters = OrderedDict()
    for name, child in module._modules.items():
        if child is None:
            replica._modules[name] = None
        else:
            setattr(replica, name, replicas[id(child)])
    for name, parameter in module._parameters.items():
        if parameter is None:
            replica._parameters[name] = None
        else:
            copied = parameters[id(parameter)][at]
            setattr(replica, name, copied)  # a plain attribute: it is no parameter
            replica._former_parameters[name] = copied
    for name, buffer in module._buffers.items():
        if buffer is None:
            replica._buffers[name] = None
        else:
            setattr(replica, name, buffers[id(buffer)][at])


def _copies(tensors: list[Any], indices: list[Any], detach: bool) -> dict[int, list[Tensor]]:
    """The copies of each tensor on all devices, by its identity."""
    if not tensors:
        return {}
    if not detach and not all(tensor.device.type != "cpu" for tensor in tensors):
        raise AssertionError("Broadcast function not implemented for CPU tensors")
    # A copy to where a tensor is shares its memory, so that a replica there changes the module's own buffers.
    sources = [tensor.detach() if detach else tensor.view_as(tensor) for tensor in tensors]
    copied = comm.broadcast_coalesced(sources, indices)
    return {id(tensor): [one[i] for one in copied] for i, tensor in enumerate(tensors)}
