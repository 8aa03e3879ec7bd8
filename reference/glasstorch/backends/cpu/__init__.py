"""What can be asked of the kernels for the CPU?

Reading order: `convolution`.

Mirrors: torch/backends/cpu/__init__.py
Differs: `get_cpu_capability` tells which instructions NumPy's loops were chosen for. The rest is this library's own.
"""

from __future__ import annotations

from glasstorch import cpu as _cpu
from glasstorch.backends.cpu import convolution as convolution
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names


def get_cpu_capability() -> str:
    """Which vector instructions are used: "AVX512", "AVX2", or "DEFAULT" for those that every processor has."""
    found = _cpu.get_capabilities()
    if found.get("avx512_skx"):
        return "AVX512"
    return "AVX2" if found.get("avx2") and found.get("fma3") else "DEFAULT"


__getattr__ = _refuse_unknown_names(__name__)
