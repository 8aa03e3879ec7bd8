"""How are sparse tensors copied and converted to other dtypes?

Mirrors: aten/src/ATen/native/sparse/SparseTensor.cpp (clone_sparse, copy_sparse_), aten/src/ATen/native/Copy.cpp
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor, alias
from glasstorch.core.device import device
from glasstorch.core.dtype import Number, dtype
from glasstorch.core.errors import ArgumentError, MissingKernelError, ShapeError
from glasstorch.core.layout import layout, memory_format, sparse_coo
from glasstorch.kernels.sparse.creation import no_sparse_tensors_on
from glasstorch.kernels.sparse.tensors import SPARSE, SPARSE_META, coalesced, coo, empty_coo, parts, set_parts
from glasstorch.python_forms.tensor_types import type_name


@SPARSE_META.impl("detach", "alias")
@SPARSE.impl("detach", "alias")
def detach(keys: int, self: Tensor) -> Tensor:
    """The same parts in another tensor."""
    return alias(self)


@SPARSE.impl("clone")
def clone(keys: int, self: Tensor, memory_format: memory_format | None) -> Tensor:
    """A copy of indices and values."""
    if memory_format is not None:
        raise unsupported_order(memory_format)
    held = parts(self)
    return coo(held.indices.clone(), held.values.clone(), self._shape, held.coalesced)


def unsupported_order(order: memory_format) -> ArgumentError:
    """The error of a copy in some order of memory, which a sparse tensor has none of."""
    word = str(order).rpartition(".")[2].removesuffix("_format")
    return ArgumentError(f"unsupported memory format option {word.title().replace('_', '')}")


@SPARSE.impl("_to_copy")
def to_copy(
    keys: int,
    self: Tensor,
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: memory_format | None,
) -> Tensor:
    """A copy with values of another dtype."""
    if device is not None and device.type != self.device.type:
        if device.type != "meta":
            raise no_sparse_tensors_on(device)
        return empty_coo(self._shape, parts(self).sparse_dim, self.dtype if dtype is None else dtype, device)
    if layout is not None and layout is not sparse_coo:
        raise MissingKernelError(f"_to_copy: from {self.layout} to {layout}; call to_dense() or to_sparse() for that")
    held = parts(self)
    values = held.values.to(self.dtype if dtype is None else dtype, copy=True)
    return coo(held.indices.clone(), values, self._shape, held.coalesced)


@SPARSE_META.impl("copy_", "copy_sparse_to_sparse_")
@SPARSE.impl("copy_", "copy_sparse_to_sparse_")
def copy_(keys: int, self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    """Overwrite with another sparse tensor's indices and values, and its sizes."""
    if not (self.is_sparse and src.is_sparse):
        raise ArgumentError(
            f"copy_() between dense and sparse Tensors is not implemented! Found self type = {type_name(self)} and "
            f"src type = {type_name(src)}"
        )
    if self is src:
        return self
    held = parts(src)
    values: Any = held.values.to(self.dtype, copy=True)
    return set_parts(self, held.indices.clone(), values, held.coalesced, src._shape)


@SPARSE.impl("_local_scalar_dense")
def item(keys: int, self: Tensor) -> Number:
    """The sum of the values at the only place."""
    values = parts(coalesced(self)).values
    if values.numel() > 1:
        raise ShapeError(f"a Tensor with {values.numel()} elements cannot be converted to Scalar")
    return values.item() if values.numel() else self.dtype.numpy.type(0).item()
