"""What is there for tensors of which only some elements are specified?

Reading order: `_invariants` (whether parts are checked), `_gradcheck` (gradients are checked by values).

Mirrors: torch/sparse/__init__.py
Differs: semi-structured tensors and solvers are told by name to be missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated.functions import _spdiags as spdiags
from glasstorch.operators.generated.functions import sparse_sampled_addmm as sampled_addmm
from glasstorch.python_forms.sparse_tensor_types import BFloat16Tensor as BFloat16Tensor
from glasstorch.python_forms.sparse_tensor_types import ByteTensor as ByteTensor
from glasstorch.python_forms.sparse_tensor_types import CharTensor as CharTensor
from glasstorch.python_forms.sparse_tensor_types import DoubleTensor as DoubleTensor
from glasstorch.python_forms.sparse_tensor_types import FloatTensor as FloatTensor
from glasstorch.python_forms.sparse_tensor_types import HalfTensor as HalfTensor
from glasstorch.python_forms.sparse_tensor_types import IntTensor as IntTensor
from glasstorch.python_forms.sparse_tensor_types import LongTensor as LongTensor
from glasstorch.python_forms.sparse_tensor_types import ShortTensor as ShortTensor
from glasstorch.sparse._gradcheck import as_sparse_gradcheck as as_sparse_gradcheck
from glasstorch.sparse._invariants import check_sparse_tensor_invariants as check_sparse_tensor_invariants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasstorch._tensor import Tensor
    from glasstorch.core.dtype import dtype as DType

__all__ = [
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]

_mm, _addmm = on_tensors("_sparse_mm"), on_tensors("_sparse_addmm")
_mm_reduced = on_tensors("_sparse_mm.reduce")
_softmax, _log_softmax = on_tensor("_sparse_softmax.int"), on_tensor("_sparse_log_softmax.int")
_sum, _sum_as = on_tensor("_sparse_sum"), on_tensor("_sparse_sum.dtype")
_sum_dims, _sum_dims_as = on_tensor("_sparse_sum.dim"), on_tensor("_sparse_sum.dim_dtype")


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """The product of two matrices of which one or both are sparse; the gradient of a sparse one is sparse.

    `reduce` says what becomes of the terms of each element: "sum", "mean", "amax" or "amin" of CSR by strided.
    """
    return _mm(mat1, mat2) if reduce is None else _mm_reduced(mat1, mat2, reduce)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * input + alpha * mat1 @ mat2`; the gradient of a sparse mat1 is sparse."""
    return _addmm(input, mat1, mat2, beta, alpha)


def sum(input: Tensor, dim: int | Sequence[int] | None = None, dtype: DType | None = None) -> Tensor:
    """The sum of the specified elements over some dimensions, or all; its gradient is sparse.

    The result is sparse unless all sparse dimensions are summed over.
    """
    if dtype is None:
        return _sum(input) if dim is None else _sum_dims(input, [dim] if isinstance(dim, int) else dim)
    return _sum_as(input, dtype) if dim is None else _sum_dims_as(input, [dim] if isinstance(dim, int) else dim, dtype)


def softmax(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """The softmax along a dimension; elements that are not specified count as minus infinity."""
    return _softmax(input, dim, dtype)


def log_softmax(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Its logarithm."""
    return _log_softmax(input, dim, dtype)


__getattr__ = refuse_unknown_names(__name__)
