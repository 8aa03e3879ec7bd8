"""Which packages may bring kernels of flash attention, and whose is active?

Mirrors: torch/nn/attention/_registry.py, torch/nn/attention/_fa3.py and _fa4.py (what they need)
Differs: FA3 and FA4 have names here, but bring kernels that launch on PyTorch's own tensors; activating one is refused
    even where its package is installed.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from typing import Protocol

logger = logging.getLogger(__name__)


class FlashAttentionHandle(Protocol):
    """What a registration returns: it takes its kernels away again."""

    def remove(self) -> None: ...


Register = Callable[..., FlashAttentionHandle | None]

_implementations: dict[str, Register] = {}
_active: tuple[str, FlashAttentionHandle] | None = None


def register_flash_attention_impl(impl: str, *, register_fn: Register) -> None:
    """Give an implementation a name. When it is activated, `register_fn` registers its kernels, say with a `Library`.

    What that returns, if anything, is asked to `remove()` them.
    """
    _implementations[impl] = register_fn


def activate_flash_attention_impl(impl: str) -> None:
    """Take away the kernels of the active implementation, and register those of this one."""
    global _active
    restore_flash_attention_impl(_raise_warn=False)
    register = _implementations.get(impl)
    if register is None:
        raise ValueError(
            f"Unknown flash attention impl '{impl}'. Available implementations: {list_flash_attention_impls()}"
        )
    handle = register()
    if handle is not None:
        _active = impl, handle


def list_flash_attention_impls() -> list[str]:
    """The names of all implementations."""
    return sorted(_implementations)


def current_flash_attention_impl() -> str | None:
    """The name of the active implementation; None while it is the library's own, or its registration has no handle."""
    return None if _active is None else _active[0]


def restore_flash_attention_impl(_raise_warn: bool = True) -> None:
    """Take away the kernels of the active implementation. Where there is none, a warning is logged."""
    global _active
    if _active is not None:
        _active[1].remove()
    elif _raise_warn:
        logger.warning("Trying to restore default FA2 impl when no custom impl was activated")
    _active = None


def _of_package(name: str, package: str) -> Register:
    def register() -> None:
        importlib.import_module(package)
        raise RuntimeError(f"Module '{package}' brings kernels for PyTorch's own tensors; {name} cannot run on others")

    return register


register_flash_attention_impl("FA3", register_fn=_of_package("FA3", "flash_attn_interface"))
register_flash_attention_impl("FA4", register_fn=_of_package("FA4", "flash_attn.cute.interface"))
