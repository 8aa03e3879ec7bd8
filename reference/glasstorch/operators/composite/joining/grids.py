"""How are all combinations of elements laid out, in one grid or in rows?

Mirrors: aten/src/ATen/native/TensorShape.cpp (meshgrid), Itertools.cpp (cartesian_prod, combinations)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from glasstorch.core.errors import ShapeError
from glasstorch.core.warn_once import warn_once
from glasstorch.operators.composite.creation import arange, new_empty
from glasstorch.operators.direct import on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

view = on_tensor("view")
expand = on_tensor("expand")
flatten = on_tensor("flatten.using_ints")
stack = on_tensors("stack")
masked_select = on_tensors("masked_select")


def meshgrid(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`meshgrid_indexing` with `ij`; PyTorch announces that `indexing` will be required."""
    warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    return meshgrid_indexing(tensors, "ij")


def meshgrid_indexing(tensors: Sequence[Tensor], indexing: str) -> tuple[Tensor, ...]:
    """Each vector along its own dimension, expanded along the others; `xy` swaps the first two."""
    if not tensors:
        raise ShapeError("meshgrid expects a non-empty TensorList")
    for one, other in pairwise(tensors):
        if one.dtype is not other.dtype:
            raise ShapeError("meshgrid expects all tensors to have the same dtype")
        if one.device is not other.device:
            raise ShapeError("meshgrid expects all tensors to have the same device")
    if indexing not in ("ij", "xy"):
        raise ShapeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swapped = indexing == "xy" and len(tensors) > 1
    along = [tensors[1], tensors[0], *tensors[2:]] if swapped else list(tensors)
    for tensor in along:
        if len(tensor._shape) > 1:
            raise ShapeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensor}")
    shape = tuple(tensor.numel() for tensor in along)
    grids: list[Tensor] = []
    for dim, tensor in enumerate(along):
        alone = [1] * len(shape)
        alone[dim] = -1
        grids.append(expand(view(tensor, alone), shape, False))
    if swapped:
        grids[:2] = grids[1], grids[0]
    return tuple(grids)


def cartesian_prod(tensors: Sequence[Tensor]) -> Tensor:
    """A row for each choice of one element from every vector; a single vector is returned itself."""
    for tensor in tensors:
        _check_vector(tensor)
    if len(tensors) == 1:
        return tensors[0]
    return stack([flatten(grid, 0, -1) for grid in meshgrid_indexing(tensors, "ij")], 1)


def combinations(self: Tensor, r: int, with_replacement: bool) -> Tensor:
    """A row for each combination of `r` elements in order, with or without replacement."""
    _check_vector(self)
    if r < 0:
        raise ShapeError(f"Expect a non-negative number, but got {r}")
    if not r:
        return new_empty(self, (0,), None, None, None, None)
    mask = _ascending(self, r, with_replacement)
    return stack([masked_select(grid, mask) for grid in meshgrid_indexing([self] * r, "ij")], 1)


def _ascending(self: Tensor, r: int, with_replacement: bool) -> Tensor:
    """A mask of an `r`-dimensional grid: where coordinates ascend, strictly or not."""
    size = len(self)
    grids = meshgrid_indexing([arange(0, size, 1, None, None, self.device, None)] * r, "ij")
    mask = grids[0] >= 0
    for low, high in pairwise(grids):
        mask = mask & (low <= high if with_replacement else low < high)
    return mask


def _check_vector(tensor: Tensor) -> None:
    if len(tensor._shape) != 1:
        raise ShapeError(f"Expect a 1D vector, but got shape {list(tensor._shape)}")
