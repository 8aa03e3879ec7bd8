"""Which modules are there for signal processing?

Reading order: `windows`.

Mirrors: torch/signal/__init__.py
"""

from __future__ import annotations

from glasstorch.signal import windows as windows

__all__ = ["windows"]
