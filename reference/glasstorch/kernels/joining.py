"""How is `stack` written into a tensor given as out=?

Mirrors: aten/src/ATen/native/TensorShape.cpp (stack_out)
Differs: nothing in substance.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.composite.joining import stacked_dim
from glasstorch.operators.generated.functions import cat

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)


@COMPOSED.impl("stack.out")
def stack_out(tensors: Sequence[Tensor], dim: int, out: Tensor) -> Tensor:
    """`stack` is `cat` of tensors with a new dimension, with out= too."""
    dim = stacked_dim(tensors, dim)
    return cat([tensor.unsqueeze(dim) for tensor in tensors], dim, out=out)
