"""Which results do `unique` and `unique_consecutive` give, of the three that their operators compute?

Mirrors: torch/functional.py (_unique_impl, _return_output, _unique_consecutive_impl),
    torch/_tensor.py (Tensor.unique, Tensor.unique_consecutive)
Differs: a subclass's `__torch_function__` is not asked. Given by position, `return_inverse` and `return_counts` of
    `unique_consecutive` mean what their names say; there the first is taken for the second too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements in order, or the different parts along a dimension.

    On demand also, in this order: for each element which of them it is, and how often each of them occurs.

    >>> import glasstorch as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    if dim is None:
        values, inverse, counts = functions._unique2(input, sorted, return_inverse, return_counts)
    else:
        values, inverse, counts = functions.unique_dim(input, dim, sorted, return_inverse, return_counts)
    asked = [result for result, wanted in ((inverse, return_inverse), (counts, return_counts)) if wanted]
    return (values, *asked) if asked else values


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements without those that equal the one before, or the parts along a dimension.

    On demand also, in this order: for each element the number of its run, and how long each run is.

    >>> import glasstorch as torch
    >>> torch.unique_consecutive(torch.tensor([3, 3, 1, 3]), return_counts=True)
    (tensor([3, 1, 3]), tensor([2, 1, 1]))
    """
    values, inverse, counts = functions.unique_consecutive(input, return_inverse, return_counts, dim)
    asked = [result for result, wanted in ((inverse, return_inverse), (counts, return_counts)) if wanted]
    return (values, *asked) if asked else values
