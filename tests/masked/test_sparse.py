"""Are sparse tensors reduced without masked-out elements as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said
from tests.sparse.quiet import invariants_switched_off

REDUCED = """
torch.masked.sum(c, mask=d > 0)
torch.masked.sum(c)
torch.masked.sum(c, 0)
torch.masked.sum(c, 1, keepdim=True, mask=d > 0)
torch.masked.sum(c, mask=c2.to(torch.bool))
torch.masked.sum(c, 0, mask=T([True, False]))
torch.masked.sum(n, 0)
torch.masked.sum(n, 0, dtype=torch.float64)
torch.masked.sum(h, 0)
torch.masked.sum(h, 2)
torch.masked.sum(h, (0, 2), keepdim=True)
torch.masked.sum(u, 1)
torch.masked.prod(c, 0, mask=d > 0)
torch.masked.prod(c, 0)
torch.masked.amax(c, 0, mask=d != 0)
torch.masked.amax(c, mask=d != 0)
torch.masked.amax(c, 0)
torch.masked.amin(c, 1, keepdim=True, mask=torch.ones(2, 2, dtype=torch.bool))
torch.masked.amin(c, mask=torch.zeros(2, 2, dtype=torch.bool))
torch.masked.mean(c, 0, mask=d > 0)
torch.masked.sum(r, 0, keepdim=True)
torch.masked.sum(r, 0)
torch.masked.sum(r, 1, keepdim=True, mask=d > 0)
torch.masked.sum(r, (0, 1), keepdim=True, mask=r2.to(torch.bool))
torch.masked.prod(r, 1, keepdim=True, mask=d != 0)
torch.masked.prod(r, 1, keepdim=True)
torch.masked.amax(r, 0, keepdim=True, mask=d != 0)
torch.masked.amax(r, 0, mask=d != 0)
torch.masked.amin(r, 1, keepdim=True, mask=d > 0)
torch.masked.mean(r, 1, keepdim=True, mask=d != 0)
torch.masked.mean(r, 1, keepdim=True)
torch.masked.sum(k, 0)
torch.masked.sum(k, 0, mask=d > 0)
torch.masked.mean(k, 0)
torch.masked.sum(d, mask=c.to(torch.bool))
torch.masked.sum(d, mask=r.to(torch.bool))
torch.masked.sum(c, mask=torch.ones(2, 2, 2, dtype=torch.bool))
""".strip().splitlines()


@pytest.fixture(autouse=True)
def _without_the_warning() -> Iterator[None]:
    with invariants_switched_off():
        yield


@pytest.mark.parametrize("expression", REDUCED)
def test_a_reduction_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_dense_dimensions_can_only_be_summed_over() -> None:
    """PyTorch returns NotImplemented."""
    x = glasstorch.ones(2, 2, 2).to_sparse(2)
    with pytest.raises(NotImplementedError, match=r"torch.masked.prod: dense dimensions .* can only be summed over"):
        glasstorch.masked.prod(x, 2, mask=glasstorch.ones(2, 2, 2).bool().to_sparse(2))
