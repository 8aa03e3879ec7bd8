"""Are the dimensions of nested tensors exchanged, split and merged as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

SHAPES = """
a.transpose(1, 2)
a.transpose(-1, 1)
r.transpose(1, 2)
a.transpose(0, 1)
a.transpose(0, 2)
q.transpose(2, 3)
q.transpose(1, 2)
q.transpose(1, 3)
q.transpose(1, 2).transpose(1, 2)
a.t()
a.mT
a.T
a.permute(0, 2, 1)
q.permute(0, 2, 1, 3)
q.permute(1, 0, 2, 3)
q.permute(0, 1)
q.permute(0, 1, 1, 2)
a.swapaxes(1, 2)
a.movedim(1, 2)
a.unsqueeze(1)
a.unsqueeze(2)
a.unsqueeze(-1)
a.unsqueeze(0)
a.unsqueeze(5)
a.unsqueeze(2).squeeze(2)
a.unsqueeze(1).squeeze(1)
a.squeeze(2)
a.squeeze(1)
a.squeeze()
a.view(3, a.shape[1], 3, 1)
q.view(3, -1, 8)
q.view(3, q.shape[1], 8)
q.view(3, q.shape[1], -1)
q.view(3, q.size(1), 4, 2)
q.view(-1, q.size(1), 4, 2)
q.view(3, 7, 8)
q.view(24)
a.view(3, -1)
a.view(a.shape)
r.view(r.shape)
r.view(3, 1, 3, -1)
q.reshape(3, -1, 8)
q.reshape(3, q.size(1), 8)
q.transpose(2, 3).reshape(3, -1, 8)
q.flatten(2)
q.flatten(2, 3)
q.flatten(-2)
q.flatten(1)
q.flatten(0, 1)
q.flatten()
q.flatten(2, 2)
a.unflatten(2, [3, 1])
a.unflatten(-1, [1, 3])
a.unflatten(-1, (1, -1))
a.unflatten(2, [2, 1])
a.unflatten(1, [2, 1])
a.unflatten(0, [3, 1])
a.expand(3, a.shape[1], 3)
a.unsqueeze(2).expand(3, a.shape[1], 2, 3)
a.expand(3, 7, 3)
a.unsqueeze(2).expand(3, -1, 2, 3)
a.expand_as(a2)
torch.broadcast_tensors(a, a2)
a.broadcast_to(3, a.shape[1], 3)
gradient(lambda x: x.transpose(1, 2), a)
gradient(lambda x: x.transpose(1, 2).transpose(1, 2) * x, a)
gradient(lambda x: x.unsqueeze(-1).squeeze(-1), a)
gradient(lambda x: x.flatten(2), q)
gradient(lambda x: x.view(3, -1, 8), q)
gradient(lambda x: x.unflatten(-1, [1, 3]), a)
gradient(lambda x: nested.narrow(x, 1, T([0, 1, 2]), T([2, 3, 1]), layout=jagged), torch.arange(24.).view(3, 4, 2))
gradient(lambda x: x.expand(3, x.shape[1], 3), a)
gradient(lambda x: x.permute(0, 2, 1, 3), q)
""".strip().splitlines()


@pytest.mark.parametrize("expression", SHAPES)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
