"""Which error says that a function ran differently the second time?

Mirrors: torch/utils/checkpoint.py (CheckpointError)
"""

from __future__ import annotations


class CheckpointError(RuntimeError):
    """The recomputed tensors are not those that the forward pass would have saved."""
