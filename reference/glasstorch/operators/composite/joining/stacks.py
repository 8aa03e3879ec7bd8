"""Which joining operators are composed of `cat`?

Mirrors: aten/src/ATen/native/TensorShape.cpp (stack, hstack, vstack, dstack, column_stack, block_diag)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.errors import DeviceError, ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.keys import SPARSE
from glasstorch.operators.composite.creation import empty, zeros_operator
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.shapes.promotion import result_type

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

cat = on_tensors("cat")
reshape = on_tensor("reshape")
unsqueeze = on_tensor("unsqueeze")
view = on_tensor("view")
atleast_1d, atleast_2d, atleast_3d = on_tensor("atleast_1d"), on_tensor("atleast_2d"), on_tensor("atleast_3d")
slice_ = on_tensor("slice.Tensor")


def stack(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Tensors of one shape, joined along a new dimension."""
    dim = stacked_dim(tensors, dim)
    shape = tensors[0]._shape
    if dim == len(shape) or any(tensor.key_set & SPARSE for tensor in tensors):
        return cat([unsqueeze(tensor, dim) for tensor in tensors], dim)
    return view(cat(tensors, dim), (*shape[:dim], len(tensors), *shape[dim:]))


def stacked_dim(tensors: Sequence[Tensor], dim: int) -> int:
    """The new dimension, counted from the front; refuses tensors of different shapes."""
    if not tensors:
        raise ShapeError("stack expects a non-empty TensorList")
    shape = tensors[0]._shape
    dim = wrap_dim(dim, len(shape) + 1)
    for i, tensor in enumerate(tensors):
        if tensor._shape != shape:
            raise ShapeError(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry 0 and "
                f"{list(tensor._shape)} at entry {i}"
            )
    return dim


# With a minimum number of dimensions --------------------------------------------------------------------------
# The tensors to join and the dimension are also used by the out= forms.

Parts = tuple[list["Tensor"], int]


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors joined horizontally: along the second dimension, or vectors along their only one."""
    return cat(*parts_of_hstack(tensors))


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors joined vertically: along the first dimension, with vectors as rows."""
    return cat(*parts_of_vstack(tensors))


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors joined along the third dimension."""
    return cat(*parts_of_dstack(tensors))


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """The tensors joined horizontally; vectors and 0-dim tensors become columns."""
    return cat(*parts_of_column_stack(tensors))


def parts_of_hstack(tensors: Sequence[Tensor]) -> Parts:
    """Tensors of at least one dimension; the first decides the dimension."""
    _check_some("hstack", tensors)
    parts = [atleast_1d(tensor) for tensor in tensors]
    return parts, 0 if len(parts[0]._shape) == 1 else 1


def parts_of_vstack(tensors: Sequence[Tensor]) -> Parts:
    """Tensors of at least two dimensions."""
    _check_some("vstack", tensors)
    return [atleast_2d(tensor) for tensor in tensors], 0


def parts_of_dstack(tensors: Sequence[Tensor]) -> Parts:
    """Tensors of at least three dimensions."""
    _check_some("dstack", tensors)
    return [atleast_3d(tensor) for tensor in tensors], 2


def parts_of_column_stack(tensors: Sequence[Tensor]) -> Parts:
    """Tensors of at least two dimensions; vectors become columns."""
    _check_some("column_stack", tensors)
    columns = [
        reshape(tensor, (tensor.numel(), 1)) if len(tensor._shape) <= 1 else atleast_1d(tensor) for tensor in tensors
    ]
    return columns, 1


def _check_some(name: str, tensors: Sequence[Tensor]) -> None:
    if not tensors:
        raise ShapeError(f"{name} expects a non-empty TensorList")


# Along the diagonal ---------------------------------------------------------------------------------------------


def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    """A matrix of zeros with the matrices as blocks along its diagonal."""
    if not tensors:
        return empty((1, 0), None, None, None, None, None)
    first = tensors[0]
    blocks = []
    for i, tensor in enumerate(tensors):
        if tensor.device is not first.device:
            raise DeviceError(
                f"torch.block_diag: input tensors must all be on the same device. Input 0 is on device {first.device} "
                f"and input {i} is on device {tensor.device}"
            )
        blocks.append(atleast_2d(tensor))
    for i, tensor in enumerate(tensors):
        if len(tensor._shape) > 2:
            raise ShapeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {i} has {len(tensor._shape)} "
                f"dimensions"
            )
    rows, columns = (sum(block._shape[d] for block in blocks) for d in (0, 1))
    result: Tensor = zeros_operator((rows, columns), result_type(*tensors), None, first.device, None)
    top = left = 0
    for block in blocks:
        height, width = block._shape
        corner = slice_(slice_(result, 0, top, top + height, 1), 1, left, left + width, 1)
        corner.copy_(block)
        top, left = top + height, left + width
    return result
