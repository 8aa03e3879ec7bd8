"""Are COO tensors summed as PyTorch sums them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

EXPRESSIONS = """
c.sum()
u.sum()
n.sum()
b.sum()
h.sum()
c.sum(0)
c.sum(1)
c.sum((0, 1))
c.sum(0, keepdim=True)
h.sum(0)
h.sum(2)
h.sum((0, 2))
h.sum(-1, keepdim=True)
u.sum(0)
c.sum(dtype=torch.float64)
c.sum(0, dtype=torch.float64)
c.sum(())
z.sum()
z.sum(0)
torch.sparse.sum(c)
torch.sparse.sum(c, 0)
torch.sparse.sum(u, 0)
torch.sparse.sum(c, (0, 1))
torch.sparse.sum(h, 2)
torch.sparse.sum(h, (0, 1))
torch.sparse.sum(h, (0, 2))
torch.sparse.sum(c, 0, dtype=torch.float64)
torch.sparse.sum(c, 2)
torch.sparse.sum(d)
torch.sparse.sum(c, ())
c.prod()
c.norm()
u.norm()
c.norm(1)
c.norm(0)
c.norm(2, 0)
h.norm()
c.any()
b.any()
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_the_gradient_of_a_sparse_sum_is_sparse_and_that_of_a_sum_is_not(torch: Any) -> None:
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse().requires_grad_()
    (torch.sparse.sum(x, 0).to_dense() * torch.tensor([5.0, 7.0])).sum().backward()
    assert x.grad.is_sparse
    assert x.grad.to_dense().tolist() == [[0.0, 7.0], [5.0, 0.0]]
    y = torch.eye(2).to_sparse().requires_grad_()
    y.sum().backward()
    assert y.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("dim", [2, (0, 2), (0, 1), (1, 2)])
def test_the_gradient_of_a_sum_over_dense_dimensions_reaches_each_element(torch: Any, dim: Any) -> None:
    x = torch.arange(8.0).reshape(2, 2, 2).to_sparse(2).requires_grad_()
    total = torch.sparse.sum(x, dim)
    (total.to_dense() if total.is_sparse else total).sum().backward()
    assert x.grad.to_dense().tolist() == torch.ones(2, 2, 2).tolist()
