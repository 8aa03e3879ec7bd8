"""Are pieces of nested tensors taken, and joined, as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

PIECES = """
a.shape[1] == a2.shape[1]
a.shape[1] == c.shape[1]
a.select(0, 1)
a.select(2, 1)
a.select(1, 1)
a[0]
a[-1]
a[5]
a[:, :, 0]
a[..., 1]
a[..., 1:]
a[:, :, 1:2]
a[:, 1]
a[:, 0:1]
a[1:]
a[0, 1]
a[None]
a[:]
q[:, :, 0]
q[:, :, 0, 1:]
q[..., None]
a[a > 0]
r[:, 0]
r.select(1, 0)
h.select(2, 0)
h[0]
h[..., :2]
a.narrow(2, 0, 2)
a.narrow(1, 0, 2)
a.narrow(0, 0, 2)
a.split(2, -1)
a.split([1, 2], -1)
a.split(1, 1)
a.split(1)
q.chunk(2, -1)
q.chunk(2, 2)
a.chunk(2, 0)
a.chunk(2)
a.chunk(5)
a.chunk(2, 1)
torch.cat([a, a2], -1)
torch.cat([a, a2], 2)
torch.cat([a, a2], 1)
torch.cat([a, a2], 0)
torch.cat([a, torch.ones(3)], 2)
torch.stack([a, a2], 2)
torch.stack([a, a2], -1)
torch.stack([a, a2], 1)
torch.stack([a, a2], 0)
torch.stack([a, a2])
torch.stack([a, c], -1)
torch.stack([a, q], -1)
a[..., None]
gradient(lambda x: x[0], a)
gradient(lambda x: torch.cat(x.chunk(3, -1), -1), a)
gradient(lambda x: x.chunk(3, -1)[0], a)
gradient(lambda x: x.chunk(2, 0)[0], a)
gradient(lambda x, y: torch.cat([x, y], -1), a, a2)
gradient(lambda x, y: torch.stack([x, y], -1), a, a2)
gradient(lambda x, y: nested.as_nested_tensor([x, y], layout=jagged), torch.ones(2, 3), torch.ones(4, 3))
gradient(lambda x: (lambda y: (y.add_(1), x.exp() + y)[1])(x.exp().sin()), a)
""".strip().splitlines()


@pytest.mark.parametrize("expression", PIECES)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
