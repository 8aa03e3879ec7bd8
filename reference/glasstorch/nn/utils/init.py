"""How is a module made whose parameters are not initialised?

Mirrors: torch/nn/utils/init.py
"""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from glasstorch.nn.modules.module import Module

__all__ = ["skip_init"]

SomeModule = TypeVar("SomeModule", bound=Module)


def skip_init(module_cls: type[SomeModule], *args: Any, **kwargs: Any) -> SomeModule:
    """A module of this class, made with these arguments on the meta device; then its tensors get memory.

    The class must take a `device`; that in `kwargs`, or the CPU, is where the uninitialised tensors are.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)
