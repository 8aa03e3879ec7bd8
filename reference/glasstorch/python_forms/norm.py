"""Which norm does `norm` compute for an order given as a number or a name?

Mirrors: torch/functional.py (norm), torch/_tensor.py (Tensor.norm)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary
from glasstorch.core.dtype import Number, dtype
from glasstorch.core.keys import SPARSE
from glasstorch.core.plain_types import PLAIN
from glasstorch.operators.direct import on_tensor
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

norm_of_all, norm_over = on_tensor("norm.Scalar"), on_tensor("norm.ScalarOpt_dim")


def norm(
    input: Tensor,
    p: Number | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: dtype | None = None,
) -> Tensor:
    """The norm of a tensor's elements over dimensions, or over all.

    `p` is the order of a vector norm, "fro" for the root of the sum of squares over any number of dimensions, or "nuc"
    for the sum of the singular values of matrices in two dimensions.

    >>> import glasstorch as torch
    >>> torch.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if type(input) not in PLAIN and has_torch_function_unary(input):
        return handle_torch_function(norm, (input,), input, p=p, dim=dim, keepdim=keepdim, out=out, dtype=dtype)
    dims = [dim] if isinstance(dim, int) else dim
    if input.key_set & SPARSE and (p in ("fro", None) or not isinstance(p, str)):
        order = 2.0 if isinstance(p, str) or p is None else p
        return norm_of_all(input, order) if dims is None else norm_over(input, order, dims, keepdim)
    options: dict[str, Any] = {"dtype": dtype} if out is None else {"dtype": dtype, "out": out}
    if not isinstance(p, str):
        return functions.linalg_vector_norm(input, 2.0 if p is None else p, dims, keepdim, **options)
    if p == "fro" and (dims is None or len(dims) <= 2):
        return functions.linalg_vector_norm(input, 2, dims, keepdim, **options)
    both = list(range(input.dim())) if dims is None else dims
    return functions.linalg_matrix_norm(input, p, both, keepdim, **options)


def method(
    self: Tensor,
    p: Number | str | None = "fro",
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: dtype | None = None,
) -> Tensor:
    """The norm of the tensor's elements over dimensions, or over all; see `glasstorch.norm`."""
    return norm(self, p, dim, keepdim, dtype=dtype)


method.__name__, method.__qualname__ = "norm", "Tensor.norm"
