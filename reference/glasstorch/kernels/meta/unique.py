"""What do operators do without data whose sizes only data can tell?

Mirrors: torch/_meta_registrations.py (they are left out there), meta_repeat_interleave_Tensor
Differs: the refusal says which operator it is.
"""

from __future__ import annotations

from typing import Any, NoReturn

from glasstorch._tensor import Tensor, empty
from glasstorch.core.device import META as NOWHERE
from glasstorch.core.errors import needs_data
from glasstorch.dispatch.library import KernelTable
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.generated.registry import OPERATORS

META = KernelTable("Meta")


def refusal(name: str) -> Any:
    """A kernel that says why it cannot answer."""

    def kernel(keys: int, self: Tensor, *rest: Any) -> NoReturn:
        raise needs_data(name, self._shape)

    return kernel


NEEDS_DATA = Tag.needs_data.name
for row in OPERATORS:
    if NEEDS_DATA in row.tags:
        META.add(row.name, refusal(row.name))


@META.impl("repeat_interleave.Tensor")
def repeat_interleave(keys: int, repeats: Tensor, output_size: int | None) -> Tensor:
    """The sum of the repetitions must be given."""
    if output_size is None:
        refusal("repeat_interleave")(keys, repeats)
    assert output_size is not None
    return empty((output_size,), repeats.dtype, NOWHERE)
