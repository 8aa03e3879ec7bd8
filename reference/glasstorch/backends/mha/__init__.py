"""May attention of several heads, and layers of transformers, take their fast path?

It is one operator for a whole layer, and applies where no gradient is recorded; see
operators/composite/attention/layers.py.

Mirrors: torch/backends/mha/__init__.py
"""

from __future__ import annotations

_is_fastpath_enabled = True


def get_fastpath_enabled() -> bool:
    """Whether the fast path is taken where it applies."""
    return _is_fastpath_enabled


def set_fastpath_enabled(value: bool) -> None:
    """Allow or forbid the fast path."""
    global _is_fastpath_enabled  # noqa: PLW0603
    _is_fastpath_enabled = value
