"""What does repeat_interleave do on meta tensors?

Mirrors: torch/_meta_registrations.py (meta_repeat_interleave_Tensor)
"""

from __future__ import annotations

from glasstorch._tensor import Tensor, empty
from glasstorch.core.device import META as NOWHERE
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.meta.refusals import refusal

META = KernelTable("Meta")


@META.impl("repeat_interleave.Tensor")
def repeat_interleave(keys: int, repeats: Tensor, output_size: int | None) -> Tensor:
    """A vector of `output_size` elements, which must be given."""
    if output_size is None:
        refusal("repeat_interleave")(keys, repeats)
    assert output_size is not None
    return empty((output_size,), repeats.dtype, NOWHERE)
