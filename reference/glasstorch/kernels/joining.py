"""How does `cat` return a new tensor on a backend that only has a kernel for `cat.out`?

Mirrors: build/aten/src/ATen/RegisterCompositeExplicitAutogradNonFunctional.cpp (cat)
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor, empty
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated.functions import cat as cat_operator
from glasstorch.operators.shapes.joining import cat as cat_shape


@KernelTable("CompositeExplicitAutogradNonFunctional", calls_operators=True, takes_keys=False).impl("cat")
def cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """`cat` through its out= form. An empty list has no keys, so it is dispatched here as well and refused."""
    result = cat_shape(tensors, dim)
    return cat_operator(list(tensors), dim, out=empty(result.shape, result.dtype, tensors[0].device))
