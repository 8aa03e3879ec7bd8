"""How is a sparse tensor reduced without the elements that a mask excludes?

Of a COO or CSR tensor only the elements that the mask lets through stay specified; one that the tensor does not specify
counts as 0. Each of the reduction's elements is made of those: where there is none, the result specifies none.

Mirrors: torch/masked/_ops.py (_sparse_coo_where, _sparse_coo_scatter_reduction_helper,
    _sparse_csr_segment_reduction_helper)
Differs: a CSR tensor is reduced as a COO one, but for sums and products, which have operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from glasstorch.core.dtype import bool_, dtype, int64
from glasstorch.core.errors import ArgumentValueError, DimensionError, MissingKernelError
from glasstorch.core.layout import sparse_coo, sparse_csr, strided
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated import functions
from glasstorch.python_forms.sparse_tensors import sparse_coo_tensor
from glasstorch.python_forms.unique import unique

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

CSR_OPERATORS: Final = {
    "sum": on_tensors("_sparse_csr_sum.dim_dtype"),
    "prod": on_tensors("_sparse_csr_prod.dim_dtype"),
}
LAYOUTS: Final = (sparse_coo, sparse_csr)


def reduced(
    name: str, input: Tensor, dims: list[int], keepdim: bool, to: dtype, mask: Tensor | None, neutral: Any
) -> Tensor:
    """The sum, product, maximum, minimum or (of a CSR tensor) mean of the unmasked elements, in the input's layout."""
    layout = input.layout
    if mask is not None:
        input = without_masked(input, mask, neutral)
    elif layout in LAYOUTS and name != "sum":  # only a sum may pass over elements that are 0
        raise ArgumentValueError(f"masked {name} expects explicit mask for {layout.name} tensor input")
    if layout not in LAYOUTS:
        raise ArgumentValueError(
            f"masked {name} expects strided, sparse_coo or sparse_csr tensor (got {input.layout} tensor)"
        )
    if layout is sparse_coo:
        return coo_reduced(name, input.coalesce(), dims, keepdim, to)
    if name in CSR_OPERATORS:
        return CSR_OPERATORS[name](input, dims, keepdim, to)
    if not keepdim:
        raise AssertionError("reduction operations on CSR tensors with keepdim=False is unsupported")
    if not dims:
        return input
    return coo_reduced(name, input.to_sparse(), dims, True, to).to_sparse_csr()


def without_masked(input: Tensor, mask: Tensor, neutral: Any) -> Tensor:
    """The tensor with those elements specified that the mask lets through; parts of dense ones are neutral."""
    kept = canonical(input, mask)
    if input.layout is sparse_csr:
        return _masked_coo(input.to_sparse(), kept.to_sparse().coalesce(), neutral).to_sparse_csr()
    return _masked_coo(input.coalesce(), kept.coalesce(), neutral)


def _masked_coo(input: Tensor, mask: Tensor, neutral: Any) -> Tensor:
    passes = mask.values()
    through = passes.reshape((passes.shape[0], -1)).any(1) if passes.dim() > 1 else passes
    at = through.nonzero()[:, 0]
    places = coo_of(mask.indices()[:, at], passes[at], mask.shape)
    found = input.sparse_mask(places)
    if passes.dim() == 1:
        return found
    values = functions.where(passes[at], found.values(), found.values().new_full([], neutral))
    return coo_of(found.indices(), values, found.shape)


def coo_of(indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A coalesced COO tensor; the indices are known to be in order."""
    return sparse_coo_tensor(indices, values, tuple(shape), is_coalesced=True, check_invariants=False)


def canonical(input: Tensor, mask: Tensor) -> Tensor:
    """The mask as bool, in the input's sizes and layout."""
    if input.layout not in LAYOUTS:
        raise ArgumentValueError(
            f"_input_mask expects strided or sparse COO or sparse CSR tensor but got {input.layout}"
        )
    if mask.dim() > input.dim():
        raise DimensionError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
        )
    if mask.shape != input.shape:
        mask = (mask if mask.layout is strided else mask.to_dense()).expand(input.shape)
    if mask.layout is not input.layout:
        if input.layout is sparse_csr:
            mask = mask.to_sparse_csr()
        else:
            mask = mask.to_sparse(input.sparse_dim()) if mask.layout is strided else mask.to_sparse()
    return mask.to(bool_)


def coo_reduced(name: str, input: Tensor, dims: list[int], keepdim: bool, to: dtype) -> Tensor:
    """The reduction of the specified elements of a COO tensor; of dense dimensions, only sums."""
    split, dims = input.sparse_dim(), [d for d in dims if d < input.dim()]  # of no dimensions, 0 is one too
    values, indices = input.values().to(to), input.indices()
    dense, sparse = [d - split + 1 for d in dims if d >= split], [d for d in dims if d < split]
    if dense:
        if name != "sum":
            raise MissingKernelError(
                f"torch.masked.{name}: dense dimensions of a sparse tensor can only be summed over"
            )
        values = functions.sum(values, dense, keepdim)
    if len(sparse) == split:
        return _over_all(name, values, split if keepdim else 0, to)
    kept = [d for d in range(split) if d not in sparse]
    shape = [1 if d in dims else size for d, size in enumerate(input.shape) if keepdim or d not in dims]
    found, places = unique(indices[kept], return_inverse=True, dim=1)
    if sparse:
        at = places.reshape((-1, *(1 for _ in values.shape[1:]))).expand(values.shape)
        empty = values.new_zeros((found.shape[1], *values.shape[1:]))
        values = functions.scatter_reduce(empty, 0, at, values, name, include_self=False)
    else:
        found = indices
    if keepdim and sparse:
        whole = found.new_zeros((split, found.shape[1]))
        whole[kept] = found
        found = whole
    return sparse_coo_tensor(found.to(int64), values, shape, is_coalesced=True, check_invariants=False)


def _over_all(name: str, values: Tensor, added: int, to: dtype) -> Tensor:
    """All elements reduced to one, with so many dimensions before those that each element has."""
    if name in ("amax", "amin") and not values.shape[0]:
        result = values.new_full(values.shape[1:], -float("inf") if name == "amax" else float("inf"))
    else:
        over = getattr(functions, name)
        result = over(values, 0) if name != "mean" else over(values, 0, dtype=to)
    for _ in range(added):
        result = result.unsqueeze(0)
    return result.to(to).to_sparse()
