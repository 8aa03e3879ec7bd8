"""Which helpers do the formulas of sparse tensors call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (to_sparse_backward, sparse_mask_backward, values_backward), and the
    expressions in tools/autograd/derivatives.yaml
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.autograd.formulas.shared import conjugate, scaled
from glasstorch.core.dtype import Number
from glasstorch.core.layout import sparse_coo, sparse_csr, strided
from glasstorch.operators.composite.sparse.compressed import compressed_unchecked
from glasstorch.operators.composite.sparse.coo import coalesce, coo_unchecked, to_dense, to_sparse
from glasstorch.operators.direct import on_pair, on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

mm, t, sparse_sparse_matmul = on_pair("mm"), on_tensor("t"), on_pair("_sparse_sparse_matmul")
sparse_mask, values_of, indices_of = on_pair("sparse_mask"), on_tensor("_values"), on_tensor("_indices")
values, sampled = on_tensor("values"), on_tensors("sparse_sampled_addmm")
reduce_backward: Any = on_tensors("_sparse_mm_reduce_impl_backward")


def coo_values_backward(grad: Tensor, result: Tensor) -> Tensor:
    """The gradient of the values: those of the result's gradient at the result's places."""
    return values_of(sparse_mask(grad, result))


def compressed_values_backward(grad: Tensor, result: Tensor) -> Tensor:
    """The same of a compressed layout."""
    whole = grad if grad.layout is result.layout else to_dense(grad, None, None)
    return values(sparse_mask(whole, result))


def values_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The gradient of a sparse tensor whose values were asked for: the same places, and these values."""
    if self.layout is sparse_coo:
        return coo_unchecked(indices_of(self), grad, self._shape, None, None, None, None, True)
    held: Any = self._parts
    options = grad.dtype, held.layout, grad.device, None
    return compressed_unchecked(held.compressed, held.plain, grad, self._shape, *options)


def to_sparse_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The gradient of a tensor that was made sparse, in the layout that it had."""
    if self.layout is strided:
        return to_dense(grad, None, None)
    blocksize = getattr(self._parts, "blocksize", ()) or None
    return to_sparse(grad, self.layout, blocksize, None)


def sparse_mask_backward(grad: Tensor, mask: Tensor, self: Tensor) -> Tensor:
    """The gradient of a tensor that was masked: that of the result, in the layout of the tensor."""
    masked = sparse_mask(grad, coalesce(mask) if mask.is_sparse else mask)
    return to_dense(masked, None, None) if self.layout is strided else masked


def sparse_factor_backward(grad: Tensor, factor: Tensor, other: Tensor, is_left: bool) -> Tensor:
    """The gradient of a factor of two sparse matrices, at its own places."""
    across = t(conjugate(other))
    whole = sparse_sparse_matmul(grad, across) if is_left else sparse_sparse_matmul(across, grad)
    return sparse_mask(whole, coalesce(factor))


def sparse_left_backward(grad: Tensor, mat1: Tensor, mat2: Tensor, alpha: Number) -> Tensor:
    """The gradient of the left factor, at its own places where it is sparse. (PyTorch: mm_mat1_sparse_backward)"""
    if mat1.layout is strided:
        return scaled(mm(grad, t(conjugate(mat2))), conjugate(alpha))
    if mat1.layout is sparse_csr:
        return sampled(mat1, grad, t(conjugate(mat2)), 0, conjugate(alpha))
    if not mat1.is_sparse:
        return scaled(sparse_mask(mm(grad, t(conjugate(mat2))), mat1), conjugate(alpha))
    of = coalesce(mat1)
    rows, columns = indices_of(of)
    values = (grad.index_select(0, rows) * conjugate(mat2.index_select(0, columns))).sum(1)
    return coo_unchecked(indices_of(of), scaled(values, conjugate(alpha)), mat1._shape, None, None, None, None, True)


def sparse_right_backward(grad: Tensor, mat1: Tensor, alpha: Number) -> Tensor:
    """The gradient of the strided right factor."""
    return scaled(mm(t(conjugate(mat1)), grad), conjugate(alpha))


def sampled_left_backward(grad: Tensor, self: Tensor, mat2: Tensor, alpha: Number) -> Tensor:
    """The gradient of the left factor of a product that is computed at the places of another matrix."""
    return scaled(mm(sparse_mask(grad, self), conjugate(mat2).mT), conjugate(alpha))


def sampled_right_backward(grad: Tensor, self: Tensor, mat1: Tensor, alpha: Number) -> Tensor:
    """That of the right factor."""
    return scaled(mm(conjugate(mat1).mT, sparse_mask(grad, self)), conjugate(alpha))


def reduced_left_backward(grad: Tensor, self: Tensor, other: Tensor, reduce: str, arg: Tensor) -> Tensor:
    """The gradient of the CSR factor of a product whose terms are not added up but reduced in another way."""
    return reduce_backward(self, grad, other, reduce, arg, [True, False])[0]  # type: ignore[no-any-return]


def reduced_right_backward(grad: Tensor, self: Tensor, other: Tensor, reduce: str, arg: Tensor) -> Tensor:
    """That of the strided factor."""
    return reduce_backward(self, grad, other, reduce, arg, [False, True])[1]  # type: ignore[no-any-return]
