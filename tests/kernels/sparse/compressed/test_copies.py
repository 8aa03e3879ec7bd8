"""Are tensors of the compressed layouts copied, cast, pickled and masked as in PyTorch?"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

COPIED = r"""
r.clone()
r.detach()
r.clone(memory_format=torch.contiguous_format)
r.to(torch.float64)
k.half()
o.to(torch.int64)
r.clone().copy_(d)
r.clone().copy_(k)
r.clone().copy_(torch.eye(2).to_sparse_csr())
d.clone().copy_(r)
pickle.loads(pickle.dumps(r))
pickle.loads(pickle.dumps(p))
pickle.loads(pickle.dumps(m))
d.sparse_mask(r)
d.sparse_mask(k)
d.sparse_mask(o)
c.sparse_mask(r)
r.sparse_mask(d)
r.sparse_mask(c)
torch.ones(2, 3).sparse_mask(r)
torch.ones(2, 2, 2).sparse_mask(m)
torch.ones(2, 2, 2).sparse_mask(y)
r.cpu().layout
r.stride()
p.stride()
r.is_contiguous()
o.is_contiguous()
r.is_leaf, r.requires_grad, r.dtype, r.device
""".strip().splitlines()


@pytest.mark.parametrize("expression", COPIED)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_what_pytorch_refuses_is_copied_and_masked() -> None:
    """PyTorch has no deepcopy of the compressed layouts, and masks only by the tensor's own layout."""
    x = glasstorch.tensor([[1.0, 0.0], [2.0, 3.0]])
    for sparse in (x.to_sparse_csr(), x.to_sparse_csc(), x.to_sparse_bsr((1, 2)), x.to_sparse_bsc((2, 1))):
        copied = copy.deepcopy(sparse)
        assert copied.layout is sparse.layout
        assert copied.to_dense().tolist() == x.tolist()
        assert sparse.sparse_mask(x.tril(-1).to_sparse_csr()).to_dense().tolist() == [[0.0, 0.0], [2.0, 0.0]]
