"""Is there a GPU that kernels run on?

Mirrors: torch/cuda/__init__.py
Differs: there is none here; a program that asks first goes on with the CPU.
"""

from __future__ import annotations

__all__ = ["device_count", "is_available"]


def is_available() -> bool:
    """Whether tensors can be made on a GPU: never, here."""
    return False


def device_count() -> int:
    """The number of GPUs that tensors can be made on: 0, here."""
    return 0
