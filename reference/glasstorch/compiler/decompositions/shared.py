"""What do several decompositions need?

Mirrors: torch/_decomp/decompositions.py (pw_cast_for_opmath, apply_loss_reduction, _unsqueeze_to_dim)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import HALF_PRECISION, dtype, float32
from glasstorch.core.pytree import tree_leaves, tree_map
from glasstorch.operators.generated import functions as f
from glasstorch.operators.shapes.promotion import result_type

F = TypeVar("F", bound=Callable[..., Any])
NONE, MEAN, SUM = 0, 1, 2  # the reductions of losses


def wide(tensor: Tensor) -> Tensor:
    """A tensor of half precision as float32; any other itself."""
    return tensor.to(float32) if tensor.dtype in HALF_PRECISION else tensor


def cast(tensor: Tensor, dtype: dtype) -> Tensor:
    """A tensor in a dtype: itself, where it has it."""
    return tensor if tensor.dtype is dtype else tensor.to(dtype)


def in_float32(function: F) -> F:
    """A decorator: tensors of half precision are computed in float32, and results cast to what all tensors give."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        if not any(tensor.dtype in HALF_PRECISION for tensor in given):
            return function(*args, **kwargs)
        common = result_type(*(tensor for tensor in given if tensor.dtype.is_floating_point))

        def widened(value: Any) -> Any:
            return wide(value) if isinstance(value, Tensor) else value

        def narrowed(value: Any) -> Any:
            return value.to(common) if isinstance(value, Tensor) and value.dtype is float32 else value

        found = function(*tree_map(widened, args), **tree_map(widened, kwargs))
        return tree_map(narrowed, found) if common in HALF_PRECISION else found

    return run  # type: ignore[return-value]


def reduced(loss: Tensor, reduction: int) -> Tensor:
    """The losses of all elements, their mean, or their sum."""
    return f.mean(loss) if reduction == MEAN else f.sum(loss) if reduction == SUM else loss


def with_rank(tensor: Tensor, rank: int) -> Tensor:
    """A tensor with dimensions of size 1 at its end, so that it has so many."""
    for _ in range(rank - tensor.dim()):
        tensor = tensor.unsqueeze(-1)
    return tensor


def wrapped(dim: int, rank: int) -> int:
    """A dimension counted from the front."""
    return dim % max(rank, 1)
