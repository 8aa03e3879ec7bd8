"""Why is there no Adam for sparse gradients?

Mirrors: torch/optim/sparse_adam.py
Differs: refused by name, since glasstorch has no sparse layouts, and so no sparse gradients.
"""

from __future__ import annotations

from typing import Any

from glasstorch.optim.optimizer import Optimizer


class SparseAdam(Optimizer):
    """Adam for sparse gradients, which glasstorch does not have: it cannot be made."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        raise NotImplementedError(
            "SparseAdam updates parameters with sparse gradients, and glasstorch has no sparse layouts; use Adam"
        )
