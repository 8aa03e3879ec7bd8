"""May attention of several heads, and layers of transformers, take their fast path?

It is one operator for a whole layer, and applies where no gradient is recorded; see
operators/composite/attention/layers.py.

Mirrors: torch/backends/mha/__init__.py
"""

from __future__ import annotations

from glasstorch.operators.composite.attention.choice import Settings as _Settings

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]


def get_fastpath_enabled() -> bool:
    """Whether the fast path is taken where it applies."""
    return _Settings.fast_path


def set_fastpath_enabled(value: bool) -> None:
    """Allow or forbid the fast path."""
    _Settings.fast_path = value
