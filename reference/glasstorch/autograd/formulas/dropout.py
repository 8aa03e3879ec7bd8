"""Which helpers do the formulas of dropout call?

Mirrors: tools/autograd/derivatives.yaml (native_dropout, where the scale is an expression)
"""

from __future__ import annotations


def dropout_scale(p: float, train: bool | None) -> float:
    """By what native_dropout multiplied the elements that it left."""
    if not train:
        return 1.0
    return 0.0 if p == 1 else 1 / (1 - p)
