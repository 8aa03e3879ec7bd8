"""How do `masked_fill_` and `index_fill_` take their value from a tensor?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (masked_fill__cpu, masked_fill__cuda and index_fill_, with a
    Tensor as value)
Differs: one kernel for every backend.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.composite.pointwise import only_number
from glasstorch.operators.direct import on_tensors

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)

masked_fill_number_ = on_tensors("masked_fill_.Scalar")
index_fill_number_ = on_tensors("index_fill_.int_Scalar")


@COMPOSED.impl("masked_fill_.Tensor")
def masked_fill_(self: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """The number, written where the mask is True."""
    return masked_fill_number_(self, mask, only_number("masked_fill_", value, self))


@COMPOSED.impl("index_fill_.int_Tensor")
def index_fill_(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    """The number, written at the given indices of one dimension."""
    return index_fill_number_(self, dim, index, only_number("index_fill_", value, self))
