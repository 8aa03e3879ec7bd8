"""What sizes do packed sequences have when they are padded, and padded ones when they are packed?

Mirrors: torch/_meta_registrations.py (meta__jagged_to_padded_dense_forward, meta__padded_dense_to_jagged_forward)
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor, empty
from glasstorch.core.device import META as NOWHERE
from glasstorch.core.errors import NoDataError
from glasstorch.dispatch.library import KernelTable

META = KernelTable("Meta")


@META.impl("_jagged_to_padded_dense_forward")
def jagged_to_padded(
    keys: int, values: Tensor, offsets: Sequence[Tensor], max_lengths: Sequence[int], padding_value: float
) -> Tensor:
    """A row for each sequence, of the length that is asked for."""
    rows = offsets[0]._shape[0] - 1
    return empty((rows, max_lengths[0], *values._shape[1:]), values.dtype, NOWHERE)


@META.impl("_padded_dense_to_jagged_forward")
def padded_to_jagged(keys: int, dense: Tensor, offsets: Sequence[Tensor], total_L: int | None) -> Tensor:
    """As many elements as `total_L` says: the offsets have no data that could."""
    if total_L is None:
        raise NoDataError(
            "_padded_dense_to_jagged_forward(): the offsets of the meta device do not tell total_L; give it"
        )
    return empty((total_L, *dense._shape[2:]), dense.dtype, NOWHERE)
