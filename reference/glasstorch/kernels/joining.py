"""How do backends that can write `cat` into a tensor get the other ways of joining?

Mirrors: aten/src/ATen/native/TensorShape.cpp (stack_out), build/aten/src/ATen/
    RegisterCompositeExplicitAutogradNonFunctional.cpp (cat)
Differs: nothing in substance.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor, empty
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.composite.joining import stacked_dim
from glasstorch.operators.generated.functions import cat as cat_operator
from glasstorch.operators.shapes.joining import cat as cat_shape

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)


@COMPOSED.impl("stack.out")
def stack_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Tensor:
    """`stack` is `cat` of tensors with a new dimension, with out= too."""
    dim = stacked_dim(tensors, dim)
    return cat_operator([tensor.unsqueeze(dim) for tensor in tensors], dim, out=out)


@KernelTable("CompositeExplicitAutogradNonFunctional", calls_operators=True, takes_keys=False).impl("cat")
def cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """`cat` by way of its out= form. An empty list has no keys and ends here too, to be refused."""
    result = cat_shape(tensors, dim)
    return cat_operator(list(tensors), dim, out=empty(result.shape, result.dtype, tensors[0].device))
