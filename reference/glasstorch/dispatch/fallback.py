"""What does a key do for the operators that register nothing for it?

Mirrors: aten/src/ATen/core/VariableFallbackKernel.cpp, aten/src/ATen/core/BackendSelectFallbackKernel.cpp,
    aten/src/ATen/core/MetaFallbackKernel.cpp (metaFallback),
    aten/src/ATen/autocast_mode.cpp (the fallthrough fallback), VmapModeRegistrations.cpp of aten/src/ATen and functorch
Differs: the keys of autograd are transparent until it is loaded, and puts its own fallback there
    (autograd/unregistered.py).
"""

from __future__ import annotations

from typing import Any

from glasstorch.core.errors import MissingKernelError
from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel, Operator, fallthrough_kernel, registry
from glasstorch.dispatch.resolve import AUTOGRAD_KEYS

# Autograd keys of devices for which PyTorch has no fallback either.
WITHOUT_FALLBACK = frozenset(
    DispatchKey["Autograd" + device] for device in ("HIP", "IPU", "VE", "PrivateUse2", "PrivateUse3")
)

PASSED_THROUGH = [
    *sorted(AUTOGRAD_KEYS - WITHOUT_FALLBACK),
    DispatchKey.ADInplaceOrView,
    DispatchKey.BackendSelect,
    DispatchKey.FuncTorchVmapMode,
    DispatchKey.VmapMode,
    # Not PrivateUse1 and four others: who brings autocast to such a device registers this, too.
    *(DispatchKey["Autocast" + device] for device in ("CPU", "CUDA", "MTIA", "MAIA", "XPU", "MPS")),
]


def refuse_meta(operator: Operator, keys: int, *arguments: Any) -> Any:
    """What stands at Meta for an operator without a kernel there: the size of its result is not known."""
    raise MissingKernelError(
        f"{operator.name}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel "
        f"registered. You may have run into this message while using an operator with PT2 compilation APIs "
        f"(torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl: "
        f"@torch.library.register_fake('{operator.name}') above a function that returns an empty tensor of the "
        f"result's size and dtype"
    )


def register_fallbacks() -> None:
    """Make the keys that most operators ignore transparent, and let Meta refuse."""
    where = caller(0)
    meta = DispatchKey.Meta
    registry.fallbacks[meta] = Kernel(refuse_meta, meta, where, takes_keys=True, calls_operators=False)
    for key in PASSED_THROUGH:
        registry.fallbacks[key] = Kernel(fallthrough_kernel, key, where, takes_keys=True)
    registry.changed()
