"""Which of their operators' three results do `unique` and `unique_consecutive` return?

Mirrors: torch/functional.py (_unique_impl, _return_output, _unique_consecutive_impl),
    torch/_tensor.py (Tensor.unique, Tensor.unique_consecutive)
Differs: given by position, `return_inverse` and `return_counts` of
    `unique_consecutive` are independent; in PyTorch the first also sets the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.plain_types import PLAIN
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
    """The distinct elements, sorted, or the distinct slices along a dimension.

    On request also, in this order: the index of each input element among them, and how often each occurs.

    >>> import glasstorch as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            unique, (input,), input, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts, dim=dim
        )
    if dim is None:
        values, inverse, counts = functions._unique2(input, sorted, return_inverse, return_counts)
    else:
        values, inverse, counts = functions.unique_dim(input, dim, sorted, return_inverse, return_counts)
    asked = [result for result, wanted in ((inverse, return_inverse), (counts, return_counts)) if wanted]
    return (values, *asked) if asked else values


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements, or the slices along a dimension, without consecutive duplicates.

    On request also, in this order: the index of each element's run, and the length of each run.

    >>> import glasstorch as torch
    >>> torch.unique_consecutive(torch.tensor([3, 3, 1, 3]), return_counts=True)
    (tensor([3, 1, 3]), tensor([2, 1, 1]))
    """
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(
            unique_consecutive, (input,), input, return_inverse=return_inverse, return_counts=return_counts, dim=dim
        )
    values, inverse, counts = functions.unique_consecutive(input, return_inverse, return_counts, dim)
    asked = [result for result, wanted in ((inverse, return_inverse), (counts, return_counts)) if wanted]
    return (values, *asked) if asked else values
