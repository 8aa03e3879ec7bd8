"""Are tensors of the compressed layouts made, taken apart, resized and refused as PyTorch does it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

MADE = r"""
A(T([0,1,2]),T([0,1]),T([1.,2.]),layout=bsr)
A(T(3),T([0,1]),T([1.,2.]),layout=csr)
A(T([0,1,2]),T([0,1]),T([1.,2.]),(2,2,2),layout=csr)
A(T([0,1,2]),T([0,1]),T([1.,2.]),(2,),layout=csr)
A(T([0,1,2]),T([0,1]),T([1.,2.]),(5,5),layout=csr)
A(T([0,1,2]),T([0,1]),T([1.,2.,3.]),(5,5),layout=csr)
A(T([]),T([]),T([]),layout=csr)
A(T([0,1,2]),T([0,1]),torch.zeros(2,3),layout=csr)
A(T([[0,1,2]]*2),T([[0,1]]*2),torch.zeros(2,2,3),layout=csc)
A(T([[0,1,2]]*2),T([[0,1]]*2),torch.zeros(2,2,3,2),layout=bsc)
torch.sparse_csr_tensor()
torch.sparse_csr_tensor(T([0,1]),T([0]))
torch.sparse_csr_tensor([0,1,2],[0,1],[1.,2.])
torch.sparse_csr_tensor([0,1,2],[0,1],[1.,2.],dtype=torch.float64, size=(2,3))
torch.sparse_compressed_tensor([0,1,2],[0,1],[1.,2.])
torch.sparse_compressed_tensor([0,1,2],[0,1],[1.,2.],layout=torch.strided)
torch.sparse_compressed_tensor([0,1,2],[0,1],[1.,2.],layout=torch.sparse_csc)
torch.sparse_compressed_tensor([0,1,2],[0,1],[1.,2.],(2,2),layout=torch.sparse_bsr)
torch.sparse_compressed_tensor([0,1,2],[0,1],[[[1.]],[[2.]]],layout=torch.sparse_bsr)
torch.sparse_csr_tensor([0,1,2],[0,1],[1.,2.],layout=torch.sparse_csc)
torch.sparse_csr_tensor([0,1,2],[0,1],[1.,2.],(2,2),check_invariants=True,requires_grad=True)
torch.sparse_csr_tensor([0,1,3],[0,1],[1.,2.],(2,2),check_invariants=True)
torch.sparse_csr_tensor(T([0,1,2],dtype=torch.int32),T([0,1]),[1.,2.],(2,2),check_invariants=True)
torch.sparse_csr_tensor(T([0,1,2],dtype=torch.int32),T([0,1],dtype=torch.int32),[1.,2.],(2,2),check_invariants=True)
torch.sparse_csr_tensor(T([0.,1,2]),T([0,1]),[1.,2.],(2,2),check_invariants=True)
torch._validate_sparse_csr_tensor_args(T([0,1,2]),T([0,1]),T([1.,2.]),(2,2))
torch._validate_sparse_compressed_tensor_args(T([0,1,2]),T([0,1]),T([1.,2.]),(2,2),torch.sparse_csr)
torch._validate_sparse_compressed_tensor_args(T([0,1,2]),T([0,1]),T([1.,2.]),(2,2),torch.strided)
torch.zeros((2,3),layout=torch.sparse_csc)
torch.zeros((2,4,3),layout=torch.sparse_csc)
torch.zeros((4,),layout=torch.sparse_csc)
torch.sparse_csr_tensor((2,3))
torch._C._dispatch_keys(torch.zeros((2,3),layout=torch.sparse_csc))
torch.zeros((2,3),layout=torch.sparse_csc).stride()
torch.zeros((2,3),layout=torch.sparse_csc).is_contiguous()
torch.zeros((2,3),layout=torch.sparse_csc).storage_offset()
torch.zeros((2,3),layout=torch.sparse_csc).data_ptr()
torch.zeros((2,3),layout=torch.sparse_csc).crow_indices()
torch.zeros((2,3),layout=torch.sparse_csc).indices()
torch.zeros((2,3),layout=torch.sparse_csc)._values()
torch.zeros((2,3),layout=torch.sparse_csc).coalesce()
torch.zeros((2,3),layout=torch.sparse_csc).is_coalesced()
torch.zeros((2,3),layout=torch.sparse_csr).ccol_indices()
torch.ones(2).crow_indices()
torch.ones(2).ccol_indices()
torch.ones(2).col_indices()
torch.ones(2).row_indices()
torch.zeros_like(torch.eye(2).to_sparse_csr())
torch.zeros_like(torch.eye(2).to_sparse_csr(),layout=torch.strided)
torch.zeros_like(torch.eye(2).to_sparse_csr(),layout=torch.sparse_csc)
torch.zeros_like(torch.eye(2).to_sparse_csr(),layout=torch.sparse_coo)
torch.eye(2).to_sparse().crow_indices()
torch.eye(2).to_sparse().col_indices()
torch.empty((2, 3), layout=bsr)
torch.zeros((2, 3), layout=csr).crow_indices().dtype
r.sparse_dim(), m.sparse_dim(), o.dense_dim(), y.dense_dim()
r._nnz(), m._nnz(), o._nnz(), y._nnz()
r.is_sparse, r.is_sparse_csr, k.is_sparse_csr, o.layout
r.clone().fill_(3)
k.clone().zero_()
r.clone().normal_().layout
r.clone().resize_(3, 3)
r.clone().resize_(1, 3)
r.clone().resize_(2, 1)
r.clone().resize_as_sparse_(k)
r.clone().resize_as_sparse_(d)
torch.zeros_like(r)
torch.ones_like(o)
torch.ones_like(y)
torch.zeros_like(r, layout=torch.strided)
torch.zeros_like(r, layout=csc)
torch.zeros_like(r, layout=torch.sparse_coo)
torch.empty_like(r, dtype=torch.int64).dtype
torch.empty_like(r, layout=csc)
r.new_zeros(2, 2)
r.new_empty(3, 3).layout
r.requires_grad_()
r.data_ptr()
r.storage()
r.untyped_storage()
r.numpy()
r.tolist()
r.item()
len(r), r.numel(), r.element_size()
torch.sparse_csr_tensor(i[0].int(), i[1].int()[1:], v[:1], (1, 1)).to_sparse_csc().ccol_indices().dtype
torch.sparse_csr_tensor(T([0, 1, 2]), T([0, 1]), v.requires_grad_(), (2, 2))
torch.sparse_csr_tensor(T([0, 1, 2]), T([0, 1]), v.requires_grad_())
torch.sparse_csr_tensor(T([0, 1, 2]), T([0, 1]), v.requires_grad_(), (2, 2)).values()
torch.sparse_csr_tensor(T([0, 1, 2]), T([0, 1]), v, (2, 2), layout=csc)
""".strip().splitlines()

CHECKED = r"""
torch._validate_compressed_sparse_indices(True, T([0, 1, 2]), T([0, 1]), 2, 2, 2)
torch._validate_compressed_sparse_indices(False, T([0, 1, 2]), T([0, 2]), 2, 2, 2)
check(torch.zeros(3, layout=torch.sparse_coo),T([0,1]),T([1.,2.]),(2,2), csr)
check(T([0,1,2]),torch.zeros(3, layout=torch.sparse_coo),T([1.,2.]),(2,2), csr)
check(T([0,1,2]),T([0,1]),torch.zeros(2,layout=torch.sparse_coo),(2,2), csr)
check(T(0),T([0,1]),T([1.,2.]),(2,2), csr)
check(T([0,1,2]),T([[0,1]]),T([1.,2.]),(2,2), csr)
check(T([0,1,2]),T([0,1]),T(1.),(2,2), csr)
check(T([0,1,2]),T([0,1]),T([1.,2.]),(2,2), bsr)
check(T([0,1,2]),T([0,1]),T([1.,2.]),(2,2,2), csr)
check(T([0,1,2]),T([0,1]),T([1.,2.]),(2,), csr)
check(T([[0,1,2]]),T([[0,1],[0,1]]),T([[1.,2.]]),(1,2,2), csr)
check(T([[0,1,2]]),T([[0,1]]),T([[1.,2.]]),(2,2,2), csr)
check(T([[0,1,2]]),T([[0,1]]),T([[1.,2.]]*2),(1,2,2), csr)
check(T([0,1,2]),T([0,1]),T([1.,2.,3.]),(2,2), csr)
check(T([0,1,2]),T([0,1]),T([[1.,2.,3.]]*2),(2,2,2), csr)
check(T([0,1,2]),T([0,1]),T([1.,2.]),(3,2), csr)
check(T([0,1,2]),T([0,1]),T([1.,2.]),(3,2), csc)
check(T([0,1,2]),T([0,1]),torch.zeros(2,2,2),(4,5), bsr)
check(T([0,1,2]),T([0,1]),torch.zeros(2,2,2),(5,4), bsc)
check(T([0,1,2]),T([0,1]),torch.zeros(2,2,2),(6,4), bsr)
check(T([0,1,2]),T([0,1]),torch.zeros(2,0,2),(6,4), bsr)
check(T([1,1,2]),T([0,1]),T([1.,2.]),(2,2), csr)
check(T([0,3,2]),T([0,1]),T([1.,2.]),(2,2), csr)
check(T([0,2,2]),T([0,2]),T([1.,2.]),(2,2), csr)
check(T([0,2,2]),T([-1,1]),T([1.,2.]),(2,2), csr)
check(T([0,2,2]),T([1,0]),T([1.,2.]),(2,2), csr)
check(T([0,2,2]),T([1,1]),T([1.,2.]),(2,2), csr)
check(T([0,2,2]),T([1,1]),T([1.,2.]),(2,2), csc)
check(T([0,1,2]).float(),T([0,1]).float(),T([1.,2.]),(2,2), csr)
check(T([0,1,2]).short(),T([0,1]).short(),T([1.,2.]),(2,2), csr)
check(T([0,0,1,0,2])[::2],T([0,1]),T([1.,2.]),(2,2), csr)
check(T([0,1,2]),T([0,3,1])[::2],T([1.,2.]),(2,2), csr)
check(T([0,1,2]),T([0,1]),T([1.,2.,3])[::2],(2,2), csr)
""".strip().splitlines()


@pytest.mark.parametrize("expression", [*MADE, *CHECKED])
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_a_csc_matrix_gets_columns() -> None:
    """PyTorch leaves it with as many ccol_indices as before."""
    x = glasstorch.ones(2, 2).to_sparse_csc().resize_(2, 3)
    assert x.to_dense().tolist() == [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]


def test_the_unchecked_ones_make_what_they_are_given(torch: Any) -> None:
    parts = torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.ones(2)
    for name in ("csr", "csc"):
        made = getattr(torch.ops.aten, f"_sparse_{name}_tensor_unsafe")(*parts, (2, 2))
        assert str(made.layout) == f"torch.sparse_{name}"
    made = torch.ops.aten._sparse_compressed_tensor_unsafe(*parts, (2, 2), layout=torch.sparse_csr)
    assert made.to_dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_tensor_of_so_many_elements_is_made(torch: Any) -> None:
    made = torch.ops.aten._sparse_compressed_tensor_with_dims(
        2, 1, (2, 4, 6, 5), (2, 3), torch.int32, layout=torch.sparse_bsc
    )
    assert (made.values().shape, made.ccol_indices().shape) == ((2, 2, 2, 3, 5), (2, 3))
    assert made.row_indices().dtype is torch.int32
