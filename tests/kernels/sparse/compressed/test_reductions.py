"""Are sums over rows and columns of CSR tensors PyTorch's, and what is refused?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

SUMS = r"""
r.sum()
k.sum()
o.sum()
r.sum(dtype=torch.float64)
r.sum(0, keepdim=True)
r.sum(1, keepdim=True)
r.sum((0, 1), keepdim=True)
r.sum(-1, keepdim=True, dtype=torch.float64)
k.sum(0, keepdim=True)
o.sum(0, keepdim=True)
r.sum(0)
torch._sparse_csr_sum(r, 0, keepdim=True)
torch._sparse_csr_sum(r, [0], True)
torch._sparse_csr_prod(r, [0, 1], True)
torch._sparse_csr_prod(r, [1], True)
torch._sparse_csr_prod(r, [1])
torch._sparse_csr_sum(r.to(torch.int32), [1], True).dtype
torch._sparse_csr_sum(r.to(torch.int32), [1], True, dtype=torch.float64).dtype
torch.sparse.sum(r)
torch._sparse_csr_sum(torch.zeros(2, 3).to_sparse_csr(), [0], True)
torch._sparse_csr_sum(torch.ones(3, 2).tril().to_sparse_csr(), [1], True)
""".strip().splitlines()


@pytest.mark.parametrize("expression", SUMS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
