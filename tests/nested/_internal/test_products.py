"""Are products of nested tensors those of PyTorch, with their gradients?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

PRODUCTS = """
a @ a
F.linear(a, torch.ones(2, 3))
F.linear(a, torch.ones(2, 3), torch.ones(2))
F.linear(r, torch.ones(2, 3))
F.linear(h, torch.ones(2, 3))
F.linear(a, torch.ones(2, 4))
F.linear(q, torch.ones(2, 4), torch.ones(2))
a @ torch.ones(3, 2)
a @ torch.ones(3, 3, 2)
a @ torch.ones(4, 2)
a @ r
r @ a
r @ a2
r @ c
q @ q.transpose(2, 3)
q @ torch.ones(4, 2)
torch.ones(2, 3) @ r
torch.ones(3, 2, 3) @ r
a @ torch.ones(3)
torch.bmm(a, torch.ones(3, 3, 2))
torch.bmm(r, a)
torch.bmm(q, q)
torch.bmm(a, torch.ones(3, 3))
c @ torch.ones(3, 3, 2)
torch.matmul(v, torch.ones(7))
gradient(lambda x, w, z: F.linear(x, w, z), a, torch.ones(2, 3), torch.ones(2))
gradient(lambda x, w: F.linear(x, w), q, torch.ones(2, 4))
gradient(lambda x, w: x @ w, a, torch.ones(3, 2))
gradient(lambda x, w: x @ w, a, torch.ones(3, 3, 2))
gradient(lambda x, w: w @ x, r, torch.ones(2, 3))
gradient(lambda x, y: x.transpose(1, 2) @ y, a, a2)
gradient(lambda x: x @ x.transpose(2, 3), q)
gradient(lambda x, w: F.relu(F.linear(x, w), inplace=True), a, torch.ones(2, 3))
gradient(lambda x, w: F.linear(x, w).add_(1).mul_(3), a, torch.ones(2, 3))
gradient(lambda x, w: F.linear(x, w).exp_() , a, torch.ones(2, 3))
""".strip().splitlines()


@pytest.mark.parametrize("expression", PRODUCTS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
