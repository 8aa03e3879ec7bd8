"""How does a flat index become coordinates?

Mirrors: torch/functional.py (unravel_index, _unravel_index)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING

from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.dtype import bool_, int64
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError
from glasstorch.core.plain_types import PLAIN
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """The coordinates of flat indices: an int64 tensor for each dimension, shaped like `indices`.

    TypeError unless `indices` are integers and `shape` is an int or ints; ValueError where a size is negative.

    >>> import glasstorch as torch
    >>> torch.unravel_index(torch.tensor([4, 1]), (3, 2))
    (tensor([2, 0]), tensor([0, 1]))
    """
    if type(indices) not in PLAIN and has_torch_function_unary(indices):
        return handle_torch_function(unravel_index, (indices,), indices, shape=shape)
    if indices.dtype is bool_ or indices.dtype.is_floating_point or indices.dtype.is_complex:
        raise ArgumentTypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, int | Sequence):
        raise ArgumentTypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise ArgumentTypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in sizes):
        raise ArgumentValueError(f"'shape' cannot have negative values, but got {sizes}")
    steps = [*accumulate(reversed(sizes[1:]), mul, initial=1)][::-1][: len(sizes)]
    whole = functions.floor_divide(indices.unsqueeze(-1), indices.new_tensor(steps, dtype=int64))
    return functions.unbind(functions.remainder(whole, indices.new_tensor(sizes, dtype=int64)), -1)
