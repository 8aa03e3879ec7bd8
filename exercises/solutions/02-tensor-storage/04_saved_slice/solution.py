"""Converts the offset as well, because it counts elements, and the elements are smaller now."""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import ShapeError
from glasstorch.kernels.views import read_as

FILE = "kernels/views.py"
LINE = 330


def mended(keys: int, self: Tensor, dtype: dtype) -> Tensor:
    """The bytes read as another dtype; the last dimension grows or shrinks with the ratio of the item sizes."""
    for bit, kind in ((self.is_conj(), "conjugate view tensors"), (self.is_neg(), "tensors with negative bit set")):
        if bit:
            raise ShapeError(f"torch.Tensor.view is not supported for {kind} when converting to a different dtype.")
    shape, strides, offset = self._shape, self._strides, self._offset
    old, new = self.dtype.itemsize, dtype.itemsize
    if old == new:
        return read_as(self, dtype, shape, strides, offset)
    names = f"{self.dtype.scalar_name} as {dtype.scalar_name} (different element sizes)"
    if not shape:
        raise ShapeError(f"self.dim() cannot be 0 to view {names}")
    steps = self.strides()

    def check_step() -> None:
        if steps[-1] != 1:
            raise ShapeError(f"self.stride(-1) must be 1 to view {names}, but got {steps[-1]}")

    if old > new:
        check_step()
        ratio = old // new
        split = None if strides is None and shape[-1] else (*(step * ratio for step in steps[:-1]), 1)
        return read_as(self, dtype, (*shape[:-1], shape[-1] * ratio), split, offset * ratio)
    ratio = new // old
    for what, value in (("size(-1)", shape[-1]), ("storage_offset()", offset)):
        if value % ratio:
            raise ShapeError(f"self.{what} must be divisible by {ratio} to view {names}, but got {value}")
    check_step()
    for dim, step in enumerate(steps[:-1]):
        if step % ratio:
            raise ShapeError(f"self.stride({dim}) must be divisible by {ratio} to view {names}, but got {step}")
    joined = None if strides is None and shape[-1] else (*(step // ratio for step in steps[:-1]), 1)
    return read_as(self, dtype, (*shape[:-1], shape[-1] // ratio), joined, offset // ratio)
