"""How is a tensor padded or cropped at its borders?

Mirrors: aten/src/ATen/native/PadNd.cpp (constant_pad_nd)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number
from glasstorch.core.errors import ShapeError
from glasstorch.operators.composite.copies.conversions import clone, suggested_memory_format
from glasstorch.operators.composite.creation import empty
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

narrow = on_tensor("narrow")


def constant_pad_nd(self: Tensor, pad: Sequence[int], value: Number) -> Tensor:
    """Each dimension padded in front and behind with one value, the last dimension first; negative numbers crop."""
    shape = self._shape
    if len(pad) % 2:
        raise ShapeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * len(shape):
        raise ShapeError(
            f"Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {len(shape)} dimensions."
        )
    borders = [(len(shape) - 1 - i, pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]  # (dim, before, after)
    inner = self
    for dim, before, after in borders:
        if before < 0:
            inner = narrow(inner, dim, -before, inner._shape[dim] + before)
        if after < 0:
            inner = narrow(inner, dim, 0, inner._shape[dim] + after)
    if all(number <= 0 for number in pad):
        return clone(inner, None)
    sizes = list(shape)
    for dim, before, after in borders:
        sizes[dim] += before + after
        if sizes[dim] < 0:
            raise ShapeError(
                f"The input size {shape[dim]}, plus negative padding {before} and {after} resulted in a negative "
                f"output size, which is invalid. Check dimension {dim} of your input."
            )
    result: Tensor = empty(sizes, self.dtype, None, self.device, None, suggested_memory_format(self)).fill_(value)
    middle = result
    for dim, before, after in borders:
        if before > 0:
            middle = narrow(middle, dim, before, middle._shape[dim] - before)
        if after > 0:
            middle = narrow(middle, dim, 0, middle._shape[dim] - after)
    middle.copy_(inner)
    return result
