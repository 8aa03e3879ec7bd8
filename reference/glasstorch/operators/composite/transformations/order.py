"""Which copies in another order, or with repetitions, are made of other operators?

Mirrors: aten/src/ATen/native/TensorTransformations.cpp (rot90, fliplr, flipud), TensorShape.cpp (repeat, tile)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.errors import ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.layout import contiguous_format
from glasstorch.operators.composite.creation import new_empty
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

flip = on_tensor("flip")
clone = on_tensor("clone")
transpose_ = on_tensor("transpose_")
view = on_tensor("view")
expand = on_tensor("expand")
repeat_operator = on_tensor("repeat")

# Flipped --------------------------------------------------------------------------------------------------------


def fliplr(self: Tensor) -> Tensor:
    """The columns in reverse order."""
    if len(self._shape) < 2:
        raise ShapeError("Input must be >= 2-d.")
    return flip(self, (1,))


def flipud(self: Tensor) -> Tensor:
    """The rows in reverse order."""
    if not self._shape:
        raise ShapeError("Input must be >= 1-d.")
    return flip(self, (0,))


def rot90(self: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """`k` quarter turns from the first of two dimensions to the second: flips, and a transposition if k is odd."""
    ndim = len(self._shape)
    if len(dims) != 2:
        raise ShapeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if ndim < 2:
        raise ShapeError(f"expected total dims >= 2, but got total dims = {ndim}")
    first, second = dims
    if wrap_dim(first, ndim) == wrap_dim(second, ndim):
        raise ShapeError(f"expected rotation dims to be different, but got dim0 = {first} and dim1 = {second}")
    turns = k % 4
    if turns == 0:
        return clone(self, contiguous_format)
    if turns == 2:
        return flip(self, dims)
    return transpose_(flip(self, (second if turns == 1 else first,)), first, second)


# Repeated -------------------------------------------------------------------------------------------------------


def repeat(self: Tensor, repeats: Sequence[int]) -> Tensor:
    """The tensor side by side with itself, `repeats` times along each dimension; new ones come in front."""
    added = len(repeats) - len(self._shape)
    if added < 0:
        raise ShapeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    sizes = (*[1] * added, *self._shape)
    shape = tuple(size * times for size, times in zip(sizes, repeats, strict=True))
    result = new_empty(self, shape, None, None, None, None)
    if 0 in shape:
        return result
    blocks = [n for pair in zip(repeats, sizes, strict=True) for n in pair]  # each dimension as (times, size)
    once = view(self, [n for size in sizes for n in (1, size)])
    view(result, blocks).copy_(expand(once, blocks, False))
    return result


def tile(self: Tensor, dims: Sequence[int]) -> Tensor:
    """As `repeat`; where fewer numbers than dimensions are given, the first dimensions are not repeated."""
    missing = len(self._shape) - len(dims)
    return repeat_operator(self, (*[1] * missing, *dims))
