"""Are the dimensions of COO tensors reordered, added and cut as PyTorch does it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

EXPRESSIONS = """
c.t()
u.t()
u.t().is_coalesced()
c.t().is_coalesced()
h.transpose(0, 1)
h.transpose(0, 2)
h.transpose(1, 2)
c.permute(1, 0)
h.permute(1, 0, 2)
h.permute(0, 2, 1)
h.permute(2, 1, 0)
c.permute(0, 0)
c.permute(0)
c.unsqueeze(0)
c.unsqueeze(2)
h.unsqueeze(3)
h.unsqueeze(2)
h.unsqueeze(1)
c.unsqueeze(0).is_coalesced()
c.squeeze()
c.clone().t_()
c.clone().transpose_(0, 1)
c.select(0, 1)
c.select(1, 0)
h.select(2, 0)
h.select(0, 1)
c[1]
c[1, 0]
c[-1]
u[0]
u[0].is_coalesced()
c[0, 1]
c[..., 0]
c[None]
c[T([0])]
c[2]
c.narrow(0, 0, 1)
c.narrow_copy(0, 0, 1)
h.narrow_copy(2, 0, 1)
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
