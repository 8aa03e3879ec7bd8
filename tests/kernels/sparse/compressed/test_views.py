"""Are dimensions of tensors of the compressed layouts swapped and cut as in PyTorch, and what is refused?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

VIEWS = r"""
r.transpose(0, 1)
k.transpose(0, 1).layout
o.t()
p.transpose(1, 0)
m.transpose(1, 2)
m.transpose(0, 1)
r.transpose(0, 0).layout
m.t()
r.mT
r.select(0, 0)
r.select(1, 1)
k.select(0, 1)
o.select(0, 1)
p.select(1, 1)
m.select(0, 1)
m[0]
m[0, 1]
m.select(1, 1)
o.to_dense().to_sparse_bsr((1, 2)).select(1, 1)
r[5]
r[0, 0]
r[1, 1]
r[0, 1]
k[1, 1]
o[1, 1]
m[0, 1, 1]
r[-1]
r[None]
r[0, 0].layout
r.expand(2, 2)
r.unsqueeze(0)
r.squeeze()
r.permute(1, 0)
y.select(2, 1)
y.transpose(0, 1)
torch.ones(2, 2, 2, 3).to_sparse_csr(dense_dim=2).transpose(2, 3)
torch.ones(2, 3, 2, 2).to_sparse_csr().transpose(0, 1)
torch.arange(12.0).reshape(2, 6).to_sparse_bsr((1, 3)).t()
y.transpose(1, 2)
r.t_()
r.select(0, 3)
torch.select_copy(r, 0, 1)
""".strip().splitlines()


@pytest.mark.parametrize("expression", VIEWS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
