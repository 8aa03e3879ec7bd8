"""How are complex tensors viewed as real ones, conjugated or negated, without touching an element?

Mirrors: aten/src/ATen/native/ComplexHelper.h (view_as_real, view_as_complex), UnaryOps.cpp (_conj, _neg_view)
Differs: one kernel for every backend, as for the views in `views`.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor, make_view, make_view_as
from glasstorch.core.dtype import float16, float32, float64
from glasstorch.core.errors import ShapeError
from glasstorch.core.keys import CONJUGATE, NEGATIVE
from glasstorch.dispatch.library import KernelTable

EVERY_BACKEND = KernelTable("CompositeExplicitAutograd")


@EVERY_BACKEND.impl("view_as_real")
def view_as_real(keys: int, self: Tensor) -> Tensor:
    """Each complex number as its two parts, along a new last dimension."""
    if self.is_conj():
        raise ShapeError(
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the "
            "original."
        )
    if not self.dtype.is_complex:
        raise ShapeError("view_as_real is only supported for complex tensors")
    strides = None if self._strides is None else (*(2 * step for step in self._strides), 1)
    return make_view_as(self, self.dtype.to_real(), (*self._shape, 2), strides, 2 * self._offset)


@EVERY_BACKEND.impl("view_as_complex")
def view_as_complex(keys: int, self: Tensor) -> Tensor:
    """Each pair of real numbers along the last dimension as one complex number."""
    if self.dtype not in (float16, float32, float64):
        raise ShapeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            f"{self.dtype.scalar_name}"
        )
    shape, steps = self._shape, self.strides()
    if not shape:
        raise ShapeError("Input tensor must have one or more dimensions")
    if shape[-1] != 2:
        raise ShapeError("Tensor must have a last dimension of size 2")
    if steps[-1] != 1:
        raise ShapeError("Tensor must have a last dimension with stride 1")
    if any(step % 2 and size != 1 for step, size in zip(steps[:-1], shape, strict=False)):
        raise ShapeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if self._offset % 2:
        raise ShapeError("Tensor must have a storage_offset divisible by 2")
    strides = None if self._strides is None else tuple(step // 2 for step in steps[:-1])
    return make_view_as(self, self.dtype.to_complex(), shape[:-1], strides, self._offset // 2)


@EVERY_BACKEND.impl("_conj")
def conj(keys: int, self: Tensor) -> Tensor:
    """A view of the tensor with the conjugate bit flipped."""
    return _with_bit_flipped(self, CONJUGATE)


@EVERY_BACKEND.impl("_neg_view")
def neg_view(keys: int, self: Tensor) -> Tensor:
    """A view of the tensor with the negative bit flipped."""
    return _with_bit_flipped(self, NEGATIVE)


def _with_bit_flipped(self: Tensor, bit: int) -> Tensor:
    result = make_view(self, self._shape, self._strides, self._offset)
    result.key_set ^= bit
    return result
