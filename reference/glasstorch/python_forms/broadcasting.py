"""What do several tensors, or shapes, broadcast to?

Mirrors: torch/functional.py (broadcast_tensors, broadcast_shapes)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.geometry import Size
from glasstorch.core.geometry import broadcast_shapes as broadcast
from glasstorch.outside_data.from_data import is_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

__all__ = ["broadcast_shapes", "broadcast_tensors"]


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Views of the tensors, expanded to their broadcast shape."""
    for i, value in enumerate(tensors):
        if not is_tensor(value):
            raise ArgumentTypeError(f"expected Tensor as element {i} in argument 0, but got {type(value).__name__}")
    shape = broadcast(*(value._shape for value in tensors))
    return tuple(value.expand(shape) for value in tensors)


def broadcast_shapes(*shapes: Sequence[int] | int) -> Size:
    """The shape that tensors of these shapes broadcast to."""
    return Size(broadcast(*((shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes)))
