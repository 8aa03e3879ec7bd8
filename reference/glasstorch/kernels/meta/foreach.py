"""What do the fused steps of optimizers do on tensors without data?

Mirrors: torch/_meta_registrations.py (_fused_adam_)
"""

from __future__ import annotations

from typing import Any

from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated.registry import OPERATORS

META = KernelTable("Meta")


def nothing_to_update(keys: int, *arguments: Any) -> None:
    """Nothing: there are no elements."""


for row in OPERATORS:
    if row.name.startswith(("_fused_adam", "_fused_sgd", "_fused_adagrad")):
        META.add(row.name, nothing_to_update)
