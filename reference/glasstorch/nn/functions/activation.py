"""Which functions are applied between layers?

Mirrors: torch/nn/functional.py
"""

from __future__ import annotations

import warnings

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.operators.generated import functions as operators

__all__ = ["log_softmax", "relu", "sigmoid", "softmax", "tanh"]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """The input where it is positive, else 0; a new tensor, or the input itself if `inplace`."""
    return operators.relu_(input) if inplace else operators.relu(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return operators.tanh(input)


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-input))`."""
    return operators.sigmoid(input)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """Positive numbers that sum to 1 along a dimension."""
    return operators.softmax(input, _softmax_dim("softmax", input, dim, _stacklevel), dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """The logarithm of `softmax`, computed so that no intermediate result overflows or underflows."""
    return operators.log_softmax(input, _softmax_dim("log_softmax", input, dim, _stacklevel), dtype)


def _softmax_dim(name: str, input: Tensor, dim: int | None, stacklevel: int) -> int:
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if input.dim() in (0, 1, 3) else 1
