"""How is `stack` made of `cat`?

Mirrors: aten/src/ATen/native/TensorShape.cpp (stack)
Differs: nothing in substance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.errors import ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.operators.generated.functions import cat

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def stack(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Tensors of one shape, joined along a new dimension."""
    dim = stacked_dim(tensors, dim)
    return cat([tensor.unsqueeze(dim) for tensor in tensors], dim)


def stacked_dim(tensors: Sequence[Tensor], dim: int) -> int:
    """The new dimension, counted from the front; refuses tensors of different shapes."""
    if not tensors:
        raise ShapeError("stack expects a non-empty TensorList")
    shape = tensors[0]._shape
    for i, tensor in enumerate(tensors):
        if tensor._shape != shape:
            raise ShapeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(tensor._shape)} at entry {i}"
            )
    return wrap_dim(dim, len(shape) + 1)
