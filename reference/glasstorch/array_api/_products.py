"""Which vector and matrix products are there?

Mirrors: nothing in torch; the standard's linear algebra functions outside of `linalg`
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch.array_api._scalars import Array, pair
from glasstorch.operators.generated import functions as f


def matmul(x1: Array, x2: Array, /) -> Array:
    """The matrix product, batched over leading dimensions."""
    return f.matmul(*pair(x1, x2))


def matrix_transpose(x: Array, /) -> Array:
    """A view with the last two dimensions transposed."""
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: expected an array of at least 2 dimensions, got one of {x.ndim}")
    return f.mT(x)


def tensordot(x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Array:
    """The contraction over the last dimensions of x1 and the first ones of x2, or over the given ones."""
    left, right = pair(x1, x2)
    if isinstance(axes, int):
        return f.tensordot(left, right, list(range(left.ndim - axes, left.ndim)), list(range(axes)))
    return f.tensordot(left, right, list(axes[0]), list(axes[1]))


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The dot product along a dimension, with x1 conjugated."""
    if axis >= 0:
        raise ValueError(f"vecdot: axis counts from the last dimension, so it is negative; got {axis}")
    left, right = pair(x1, x2)
    if left.shape[axis] != right.shape[axis]:
        raise ValueError(f"vecdot: sizes {left.shape[axis]} and {right.shape[axis]} of axis {axis} must be the same")
    if not (left.dtype.is_floating_point or left.dtype.is_complex):
        return f.sum(left * right, [axis], dtype=left.dtype)
    return f.linalg_vecdot(left, right, dim=axis)
