"""For which operators does autocast have a kernel?

Those whose row in the operator table names a policy. The others fall through its key.

Mirrors: aten/src/ATen/autocast_mode.cpp (TORCH_LIBRARY_IMPL(aten, Autocast, m) and AutocastCPU)
Differs: the kernels are registered when autocast is first switched on for a device, as those for CUDA are when a CUDA
    device is first used: most programs never do. Those of a program's own device it registers itself.
"""

from __future__ import annotations

from functools import cache

from glasstorch.amp.policies import POLICIES, Cast
from glasstorch.amp.settings import DEVICES
from glasstorch.core.device import PRIVATE_USE
from glasstorch.core.errors import RegistrationError
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
            _add(table, row.name, policy, device)


def register_autocast_kernel(name: str, policy: str) -> None:
    """Let autocast treat an operator on a program's own device by a policy: `("mm", "lower_precision_fp")`.

    Mirrors: KERNEL_PRIVATEUSEONE (ATen/autocast_mode.h)
    """
    if policy not in POLICIES:
        raise RegistrationError(f"unknown policy {policy!r} for {name}; expected one of {', '.join(POLICIES)}")
    _add(KernelTable(DEVICES[PRIVATE_USE].key), name, policy, PRIVATE_USE)


def _add(table: KernelTable, name: str, policy: str, device: str) -> None:
    kernel = POLICIES[policy](Cast(registry.find(f"aten::{name}"), device))
    kernel.__name__ = kernel.__qualname__ = policy
    table.add(name, kernel, place(kernel.__code__.co_filename, kernel.__code__.co_firstlineno))
