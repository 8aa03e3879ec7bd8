"""Which kernels may scaled_dot_product_attention take?

    >>> import glasstorch as torch
    >>> from glasstorch.nn.attention import SDPBackend, sdpa_kernel
    >>> x = torch.rand(1, 2, 8, 4)
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     torch._fused_sdp_choice(x, x, x)
    0

Reading order: `_registry`, `bias` (masks that are known by their form).

Mirrors: torch/nn/attention/__init__.py
Differs: no flex_attention, no sequences of several lengths in one tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum, IntEnum

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.attention._registry import (
    activate_flash_attention_impl,
    current_flash_attention_impl,
    list_flash_attention_impls,
    register_flash_attention_impl,
    restore_flash_attention_impl,
)
from glasstorch.operators.composite.attention.choice import ALLOWED, ORDER

__all__ = [
    "SDPBackend",
    "sdpa_kernel",
    "WARN_FOR_UNFUSED_KERNELS",
    "register_flash_attention_impl",
    "activate_flash_attention_impl",
    "list_flash_attention_impls",
    "current_flash_attention_impl",
    "restore_flash_attention_impl",
]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(IntEnum):
    """The ways to compute attention; on the CPU there are MATH and FLASH_ATTENTION."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    __str__ = Enum.__str__
    __format__ = Enum.__format__


_backend_names = {
    "cudnn": "CUDNN_ATTENTION",
    "flash": "FLASH_ATTENTION",
    "mem_efficient": "EFFICIENT_ATTENTION",
    "math": "MATH",
    "overrideable": "OVERRIDEABLE",
}


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """The ways that are allowed now; with priority in the order in which they are tried."""
    allowed = [SDPBackend[backend] for name, backend in _backend_names.items() if ALLOWED[name]]
    return sorted(allowed, key=ORDER.index) if with_priority else allowed


def _backend_from_string(name: str) -> SDPBackend:
    return SDPBackend[name]


def _allow(backends: Iterable[SDPBackend], set_priority: bool) -> None:
    chosen = list(backends)
    for name, backend in _backend_names.items():
        ALLOWED[name] = SDPBackend[backend] in chosen
    if set_priority:
        ORDER[:] = [*map(int, chosen), *(one for one in ORDER if one not in chosen)]


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict[str, object]]:
    """Allow only these ways inside the block; with `set_priority` they are tried in the order given."""
    if not isinstance(backends, list | SDPBackend):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    chosen = [backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends))
    before = _cur_sdpa_kernel_backends(with_priority=set_priority)
    try:
        _allow(chosen, set_priority)
        yield {}
    finally:
        _allow(before, set_priority)


from glasstorch.nn.attention import bias as bias  # noqa: E402

__getattr__ = _refuse_unknown_names(__name__)
