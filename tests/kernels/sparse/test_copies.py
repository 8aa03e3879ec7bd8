"""Are sparse tensors copied, converted and pickled as PyTorch does it?"""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

COPIED = """
c.clone()
u.clone().is_coalesced()
c.clone(memory_format=torch.contiguous_format)
c.to(torch.float64)
c.double()
c.to(torch.float32) is c
c.half()
c.bool()
c.cpu()
c.detach()
c.data
c.clone().copy_(u)
c.clone().copy_(d)
d.clone().copy_(c)
c.item()
torch.ones(1, 1).to_sparse().item()
S(T([[0, 0], [0, 0]]), v, (1, 1)).item()
c.numel()
c.is_same_size(d)
c.type()
c.new_tensor([1.0])
copy.deepcopy(u)
pickle.loads(pickle.dumps(u))
c.numpy()
c.storage()
c.untyped_storage()
c.data_ptr()
c.tolist()
c.nbytes
c.stride()
c.storage_offset()
c.is_contiguous()
c.layout
(c.is_sparse, c.is_sparse_csr, d.is_sparse)
c.share_memory_()
len(c)
c.squeeze()
""".strip().splitlines()


@pytest.mark.parametrize("expression", COPIED)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_a_copy_has_parts_of_its_own(torch: Any) -> None:
    x = torch.eye(2).to_sparse()
    for other in (x.clone(), copy.deepcopy(x), x.to(torch.float64)):
        other._values().zero_()
        assert x.to_dense().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    x.detach()._values().zero_()
    assert x.to_dense().sum() == 0


def test_files_go_both_ways(require: Callable[[str], Any]) -> None:
    torch, text = require("torch"), "tensor(indices=tensor([[0, 1],\n                       [0, 1]]),"
    for writer, reader in ((glasstorch, torch), (torch, glasstorch), (glasstorch, glasstorch)):
        file = io.BytesIO()
        writer.save({"x": writer.eye(2).to_sparse()}, file)
        file.seek(0)
        assert repr(reader.load(file)["x"]).startswith(text)
