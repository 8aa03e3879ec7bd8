"""Are COO tensors multiplied as PyTorch multiplies them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

EXPRESSIONS = """
c @ d
u @ d
d @ c
c @ c
(c @ c).is_coalesced()
u @ u
torch.mm(c, d)
torch.mm(c, T([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
torch.mm(T([[1.0, 2.0], [4.0, 5.0], [0.0, 1.0]]), c)
torch.mm(c, torch.ones(3, 2))
torch.mm(c, d.double())
torch.mm(n, T([[1, 2], [3, 4]]))
torch.mm(h, d)
torch.mv(c, T([1.0, 2.0]))
c @ T([1.0, 2.0])
T([1.0, 2.0]) @ c
torch.matmul(c, torch.ones(2, 2, 2))
torch.bmm(torch.ones(2, 2, 2).to_sparse(), torch.ones(2, 2, 3))
torch.addmm(d, c, d)
torch.addmm(d, c, d, beta=2, alpha=3)
torch.addmm(c, c, d)
torch.addmm(d, d, c)
torch.addmm(d, c, c)
torch.addmm(c, c, c)
torch.addmm(T([1.0, 2.0]), c, d)
d.clone().addmm_(c, d)
torch.sparse.mm(c, d)
torch.sparse.mm(c, c)
torch.sparse.mm(d, c)
torch.sparse.mm(d, d)
torch.sparse.addmm(d, c, d)
torch.sparse.addmm(d, c, d, beta=2, alpha=3)
torch.spmm(c, d)
torch.dsmm(c, d)
torch.hsmm(c, d)
torch.hspmm(c, d)
torch.smm(c, d)
torch.sspaddmm(c, c, d)
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def gradients(torch: Any, function: Any, *operands: Any) -> list[Any]:
    """The gradients of a product's elements, each weighted with its number."""
    leaves = [operand.clone().requires_grad_() for operand in operands]
    product = function(*leaves)
    product = product.to_dense() if product.is_sparse else product
    (product * torch.arange(1.0, product.numel() + 1).reshape(product.shape)).sum().backward()
    return [(leaf.grad.is_sparse, leaf.grad.to_dense().tolist()) for leaf in leaves]


def test_torch_sparse_mm_has_a_sparse_gradient_where_mm_has_a_dense_one(torch: Any) -> None:
    sparse, dense = torch.tensor([[1.0, 0.0], [-2.0, 3.0]]).to_sparse(), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    of_dense = (False, [[-5.0, -6.0], [9.0, 12.0]])
    assert gradients(torch, torch.mm, sparse, dense) == [(False, [[5.0, 11.0], [11.0, 25.0]]), of_dense]
    assert gradients(torch, torch.sparse.mm, sparse, dense) == [(True, [[5.0, 0.0], [11.0, 25.0]]), of_dense]


def test_the_product_of_two_sparse_matrices_has_sparse_gradients(torch: Any) -> None:
    sparse = torch.tensor([[1.0, 0.0], [-2.0, 3.0]]).to_sparse()
    found = gradients(torch, torch.sparse.mm, sparse, sparse)
    assert found == [(True, [[1.0, 0.0], [3.0, 6.0]]), (True, [[-5.0, 0.0], [9.0, 12.0]])]


def test_a_product_added_to_a_matrix_has_gradients_for_all_three(torch: Any) -> None:
    sparse, dense = torch.tensor([[1.0, 0.0], [-2.0, 3.0]]).to_sparse(), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    found = gradients(torch, torch.sparse.addmm, dense, sparse, dense)
    assert [of for of, _ in found] == [False, True, False]
    assert found[0][1] == [[1.0, 2.0], [3.0, 4.0]]
