"""What do indexing operators do on meta tensors?

Mirrors: torch/_meta_registrations.py, aten/src/ATen/native/TensorAdvancedIndexing.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from glasstorch._tensor import Tensor
from glasstorch.core.device import META as NOWHERE
from glasstorch.core.errors import NoDataError, needs_data
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.shapes.indexing import advanced as shapes

META = KernelTable("Meta")


@META.impl("index_put_")
def index_put_(keys: int, self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> Tensor:
    """Write nothing; the indices and the values must fit."""
    if self.device is not NOWHERE:
        raise NoDataError("Cannot copy out of meta tensor; no data!")
    shapes.index_put(self, indices, values, accumulate)
    return self


@META.impl("nonzero")
def nonzero(keys: int, self: Tensor) -> NoReturn:
    """Refused: the number of nonzero elements depends on data."""
    raise needs_data("nonzero", self._shape)


@META.impl("nonzero.out")
def nonzero_out(keys: int, self: Tensor, out: Tensor) -> NoReturn:
    """As `nonzero`."""
    nonzero(keys, self)
