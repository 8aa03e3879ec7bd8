"""Which indexing operators are composed of other operators?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (take, take_along_dim, index_fill, masked_scatter_backward,
    argwhere, _unsafe_masked_index), TensorCompare.cpp (where)
Differs: `take` is composed of `index_select` here unless a backend has its own kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import STORED_ONLY, Number, check_implemented, int64
from glasstorch.core.errors import DimensionError, DtypeError, ShapeError
from glasstorch.core.geometry import broadcast_shapes, wrap_dim
from glasstorch.core.hooks import decides
from glasstorch.operators.composite.pointwise import only_number
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated.functions import nonzero, unbind

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

index_fill = on_tensors("index_fill.int_Scalar")
index_select = on_tensors("index_select")
unsafe_view = on_tensor("_unsafe_view")
gather = on_tensors("gather")
cat = on_tensors("cat")
index, index_put = on_tensors("index.Tensor"), on_tensors("index_put")
masked_select = on_tensors("masked_select")
logical_xor = on_tensors("logical_xor")


def check_take(self: Tensor, index: Tensor) -> None:
    """Refuse an index that is not int64, a dtype without a kernel, and taking from an empty tensor."""
    if index.dtype is not int64:
        raise DtypeError(f"take(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    check_implemented("take_cpu", self.dtype, STORED_ONLY)
    if index.numel() and not self.numel():
        raise DimensionError("take(): tried to take from an empty tensor")


def take(self: Tensor, index: Tensor) -> Tensor:
    """The elements at flat, row-major indices, in the shape of the index."""
    check_take(self, index)
    size = self.numel()
    if index.numel() and decides(index):
        lowest, highest = int(index.min()), int(index.max())
        wrong = lowest if lowest < -size else highest
        if lowest < -size or highest >= size:
            raise DimensionError(f"out of range: tried to access index {wrong} on a tensor of {size} elements.")
    flat = index.reshape(-1).remainder(max(size, 1))
    picked: Tensor = index_select(self.reshape(-1), 0, flat)
    # Not recorded as a view: its base is not visible to the caller.
    return picked if picked._shape == index._shape else unsafe_view(picked, index._shape)


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None) -> Tensor:
    """`gather` with the other dimensions broadcast; without a dimension, by flat index."""
    if indices.dtype is not int64:
        raise DtypeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.scalar_name}")
    if dim is None:
        return gather(self.reshape(-1), 0, indices.reshape(-1), False)
    shape, wanted = self._shape, indices._shape
    if len(shape) != len(wanted):
        raise ShapeError(
            f"torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{len(shape)} dimensions for input, and {len(wanted)} dimensions for indices"
        )
    if not shape:
        raise DimensionError(f"Dimension specified as {max(dim, 0)} but tensor has no dimensions")
    d = wrap_dim(dim, len(shape))
    others = broadcast_shapes((*shape[:d], 1, *shape[d + 1 :]), (*wanted[:d], 1, *wanted[d + 1 :]))
    expanded = indices.expand((*others[:d], *wanted[d : d + 1], *others[d + 1 :]))
    source = self.expand((*others[:d], *shape[d : d + 1], *others[d + 1 :]))
    return gather(source, d, expanded.remainder(max(shape[d], 1)), False)  # as PyTorch reads any number


# index_fill, masked_scatter -------------------------------------------------------------------------------------


def index_fill_tensor(self: Tensor, dim: int, index: Tensor, value: Tensor) -> Tensor:
    """`index_fill` with the value of a 0-dim tensor."""
    return index_fill(self, dim, index, only_number("index_fill_", value, self))


def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """The masked elements of a gradient, in the shape of the source; zeros for elements that were not used."""
    if grad_output.is_meta:
        return grad_output.new_empty(sizes)
    picked: Tensor = masked_select(grad_output, mask)
    missing = prod(sizes) - picked.numel()
    if missing:
        picked = cat([picked, picked.new_zeros((missing,))], 0)
    return picked.view(sizes)


# With indices that may be wrong where a mask is False -----------------------------------------------------------


def _unsafe_masked_index(self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: Number) -> Tensor:
    """The elements at indices, and `fill` where the mask is False; indices out of range are moved to the nearest."""
    shape = self._shape
    if not self.numel():  # there must be an element to select before it is filled
        indexed = [size == 0 and d < len(indices) and indices[d] is not None for d, size in enumerate(shape)]
        self = self.new_zeros([1 if empty else size for size, empty in zip(shape, indexed, strict=True)])
    return index(self, _in_range(indices, shape)).masked_fill(mask.eq(0), fill)


def _unsafe_masked_index_put_accumulate(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Tensor:
    """A copy with the values added at indices, but where the mask is False; see `_unsafe_masked_index`."""
    if not self.numel():
        return self.clone()
    masked = values.masked_fill(mask.eq(0), 0)
    added: Tensor = index_put(self, _in_range(indices, self._shape), masked, True)
    return added


def _in_range(indices: Sequence[Tensor | None], shape: Sequence[int]) -> list[Tensor | None]:
    """The indices of each dimension, the largest and the smallest that there are in place of those beyond them."""
    return [
        None if one is None else one.clamp(-size, size - 1)
        for one, size in zip(indices, shape[: len(indices)], strict=True)
    ]


# where, argwhere ------------------------------------------------------------------------------------------------


def where_indices(condition: Tensor) -> tuple[Tensor, ...]:
    """`where` of a condition alone: for each dimension, the indices of the elements that are not 0."""
    if not condition._shape:
        condition = condition.unsqueeze(0)
    return unbind(nonzero(condition), 1)


def argwhere(self: Tensor) -> Tensor:
    """`nonzero` under NumPy's name."""
    return nonzero(self)
