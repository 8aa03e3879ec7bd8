"""Which functions take any number of tensors, one after the other?

Mirrors: torch/functional.py
Differs: a subclass's `__torch_function__` is not asked.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.operators.generated import functions

__all__ = ["block_diag", "cartesian_prod", "meshgrid"]


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given ones on its diagonal and zeros elsewhere.

    A vector counts as a row, a 0-dim tensor as a matrix of one element. The dtype is what all promote to.

    >>> import glasstorch as torch
    >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor(3))
    tensor([[1, 2, 0],
            [0, 0, 3]])
    """
    return functions.block_diag(tensors)


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """A row for each way to take one element of each vector; given one vector, that vector itself.

    >>> import glasstorch as torch
    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([5, 6])).tolist()
    [[1, 5], [1, 6], [2, 5], [2, 6]]
    """
    return functions.cartesian_prod(tensors)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Vectors as views of the size of the grid that they span, each varying along a dimension of its own.

    `indexing` is "ij", where vector number i varies along dimension i, or "xy", where the first two change places.
    The vectors may come as one list.
    """
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    return functions.meshgrid(tensors) if indexing is None else functions.meshgrid(tensors, indexing=indexing)
