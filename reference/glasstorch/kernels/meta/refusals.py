"""How do operators whose result sizes depend on data refuse meta tensors?

Mirrors: torch/_meta_registrations.py (such operators are left out there)
Differs: the error names the operator.
"""

from __future__ import annotations

from typing import Any, NoReturn

from glasstorch._tensor import Tensor
from glasstorch.core.errors import needs_data
from glasstorch.dispatch.library import KernelTable
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.generated.registry import OPERATORS

META = KernelTable("Meta")


def refusal(name: str) -> Any:
    """A kernel that raises an error: its result sizes depend on data."""

    def kernel(keys: int, self: Tensor, *rest: Any) -> NoReturn:
        raise needs_data(name, self._shape)

    return kernel


NEEDS_DATA = Tag.needs_data.name
for row in OPERATORS:
    if NEEDS_DATA in row.tags:
        META.add(row.name, refusal(row.name))
