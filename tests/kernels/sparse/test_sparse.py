"""Is a sparse tensor taken apart, coalesced and converted as PyTorch does it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

TAKEN_APART = """
c.indices()
u.indices()
u.values()
u._values()
(c.sparse_dim(), c.dense_dim(), c._nnz(), c._dimI(), h._dimV())
d.indices()
d.values()
d.coalesce()
d.is_coalesced()
d._nnz()
d.sparse_dim()
d.dense_dim()
d.to_dense() is d
d.to_dense(torch.float64)
c.to_dense()
u.to_dense()
h.to_dense()
n.to_dense()
b.to_dense()
q.to_dense()
z.to_dense()
u.coalesce()
u.coalesce().is_coalesced()
c.coalesce() is c
d.to_sparse()
d.to_sparse(1)
d.to_sparse(3)
d.to_sparse(-1)
d.to_sparse(0)
d.to_sparse(layout=torch.strided)
d.to_sparse(layout=torch.sparse_coo, blocksize=(1, 1))
d.to_sparse(1).to_sparse(2)
d.to_sparse().to_sparse(dense_dim=1)
d.to_sparse_coo()
T(3.0).to_sparse()
T(0.0).to_sparse()
T(3.0).to_sparse().to_dense()
torch.zeros(0, 3).to_sparse()
S(i, torch.ones(2, 0), (2, 2, 0)).to_dense()
S(T([[0, 0], [1, 1]]), T([True, True]), (2, 2)).to_dense()
S(T([[0, 0], [1, 1]]), T([True, True]), (2, 2)).coalesce()
S(T([[0, 0], [1, 1]]), T([1.0, 2.0], dtype=torch.float16), (2, 2)).to_dense()
S(T([[0, 0], [1, 1]]), T([1.0, 2.0], dtype=torch.bfloat16), (2, 2)).coalesce()
S(T([[0, 0], [1, 1]]), T([1, 2]), (2, 2)).to_dense(torch.float32)
torch.arange(30.0).to_sparse()
torch.arange(3000.0).to_sparse()
d.sparse_mask(c)
c.sparse_mask(u)
d.sparse_mask(u)
u.sparse_mask(c)
h.to_dense().sparse_mask(h)
c.sparse_mask(h)
torch.ones(3, 3).sparse_mask(c)
""".strip().splitlines()


@pytest.mark.parametrize("expression", TAKEN_APART)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_the_gradient_of_a_dense_tensor_that_was_made_sparse_is_dense(torch: Any) -> None:
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]], requires_grad=True)
    (x.to_sparse().to_dense() * torch.tensor([[5.0, 6.0], [7.0, 8.0]])).sum().backward()
    assert x.grad.tolist() == [[0.0, 6.0], [7.0, 0.0]]


def test_the_gradient_of_a_sparse_leaf_is_sparse(torch: Any) -> None:
    x = torch.eye(2).to_sparse().requires_grad_()
    (x.to_dense() * torch.tensor([[5.0, 6.0], [7.0, 8.0]])).sum().backward()
    assert x.grad.is_sparse
    assert x.grad.to_dense().tolist() == [[5.0, 0.0], [0.0, 8.0]]
    (x.to_dense(masked_grad=False) * torch.tensor([[5.0, 6.0], [7.0, 8.0]])).sum().backward()
    assert x.grad.to_dense().tolist() == [[10.0, 6.0], [7.0, 16.0]]
