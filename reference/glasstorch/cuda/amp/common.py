"""Is there a CUDA device, without which autocast and scaling for CUDA do nothing?

Mirrors: torch/cuda/amp/common.py
"""

from __future__ import annotations

from glasstorch.devices.runtime import is_available

__all__ = ["amp_definitely_not_available"]


def amp_definitely_not_available() -> bool:
    """Whether there is no CUDA device."""
    return not is_available()
