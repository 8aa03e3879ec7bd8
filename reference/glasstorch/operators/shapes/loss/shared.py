"""What do the rules of all losses share?

Mirrors: aten/src/ATen/core/Reduction.h
"""

from __future__ import annotations

from glasstorch.core.dtype import dtype
from glasstorch.core.errors import DtypeError

NONE, MEAN, SUM = 0, 1, 2  # the integers that stand for a reduction in schemas


def check_same(expected: dtype, found: dtype) -> None:
    """Refuse another dtype than the expected one."""
    if expected is not found:
        raise DtypeError(f"expected scalar type {expected.scalar_name} but found {found.scalar_name}")
