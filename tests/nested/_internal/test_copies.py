"""Are nested tensors copied, cast and saved as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

COPIES = """
a.is_contiguous()
r.is_contiguous()
h.is_contiguous()
a.detach()
a.clone()
h.clone()
h.contiguous()
r.contiguous()
a.to(torch.float64)
a.double()
a.half().dtype
a.to('meta').shape == a.shape
a.contiguous() is a
a.detach().requires_grad_()
a.detach().requires_grad_().is_leaf
again(a)
again(h)
saved(a)
copy.deepcopy(a)
copy.copy(a)
saved(h)
a.masked_fill(b.clone(), 0.0)
torch.zeros_like(a)
torch.ones_like(h)
torch.ones_like(a, dtype=torch.int64)
torch.full_like(a, 3)
torch.empty_like(a).shape == a.shape
torch.empty_like(a, device='meta')
seeded(lambda: torch.rand_like(a))
seeded(lambda: torch.randn_like(a))
seeded(lambda: torch.randint_like(a, 9))
seeded(lambda: torch.randint_like(a, 2, 9))
a.new_zeros(())
a.new_zeros((2,))
a.new_empty((2, 3))
a.float()
a.int()
a.bool()
a.type(torch.float64)
gradient(lambda x: x.clone(), h)
gradient(lambda x: x.double(), a)
gradient(lambda x: x.to(torch.float64), a)
gradient(lambda x: x.clone().mul_(2), a)
""".strip().splitlines()


@pytest.mark.parametrize("expression", COPIES)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
