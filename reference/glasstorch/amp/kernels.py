"""For which operators does autocast have a kernel?

Those whose row in the operator table names a policy. The others fall through its key.

Mirrors: aten/src/ATen/autocast_mode.cpp (TORCH_LIBRARY_IMPL(aten, Autocast, m) and AutocastCPU)
Differs: the kernels are registered when autocast is first switched on for a device, as those for CUDA are when a CUDA
    device is first used: most programs never do.
"""

from __future__ import annotations

from functools import cache

from glasstorch.amp.policies import POLICIES, Cast
from glasstorch.amp.settings import DEVICES
from glasstorch.dispatch.library import KernelTable, place
from glasstorch.dispatch.operator import registry
from glasstorch.operators.generated.registry import OPERATORS


@cache
def register_autocast_kernels(device: str) -> None:
    """Register the kernels for a type of device, once."""
    table = KernelTable(DEVICES[device].key)
    for row in OPERATORS:
        policy = dict(row.autocast).get(device)
        if policy is not None:
            kernel = POLICIES[policy](Cast(registry.find(f"aten::{row.name}"), device))
            kernel.__name__ = kernel.__qualname__ = policy
            table.add(row.name, kernel, place(kernel.__code__.co_filename, kernel.__code__.co_firstlineno))
