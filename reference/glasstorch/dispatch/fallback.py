"""What does a key do for the operators that register nothing for it?

Mirrors: aten/src/ATen/core/VariableFallbackKernel.cpp, aten/src/ATen/core/BackendSelectFallbackKernel.cpp,
    aten/src/ATen/autocast_mode.cpp (the fallthrough fallback), VmapModeRegistrations.cpp of aten/src/ATen and functorch
Differs: the keys of autograd are transparent until it is loaded, and puts its own fallback there
    (autograd/unregistered.py).
"""

from __future__ import annotations

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel, fallthrough_kernel, registry
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


def register_fallbacks() -> None:
    """Make the keys that most operators ignore transparent."""
    where = caller(0)
    for key in PASSED_THROUGH:
        registry.fallbacks[key] = Kernel(fallthrough_kernel, key, where, takes_keys=True)
    registry.changed()
