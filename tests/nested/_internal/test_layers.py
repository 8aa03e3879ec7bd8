"""Do layers compute of nested tensors what they compute in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

LAYERS = """
F.softmax(a, -1)
F.softmax(a, 1)
F.softmax(a, 0)
F.softmax(r, 2)
F.softmax(r, 1)
F.softmax(h, 1)
F.softmax(h, 2)
F.softmax(v, 1)
F.softmax(q, 1)
F.softmax(q, 2)
a.softmax(-1, dtype=torch.float64)
F.softmax(c, 1)
F.log_softmax(a, -1)
F.log_softmax(a, 1)
F.log_softmax(a, 0)
F.log_softmax(h, -1)
F.layer_norm(a, (3,))
F.layer_norm(a, (3,), torch.ones(3) * 2, torch.ones(3))
F.layer_norm(a, (a.shape[1], 3))
F.layer_norm(q, (q.shape[1], 2, 4))
F.layer_norm(q, (2, 4))
F.layer_norm(a, (4,))
F.layer_norm(v, (7,))
F.layer_norm(h, (3,))
F.layer_norm(h, (h.shape[1], 3))
F.layer_norm(a, (3, a.shape[1], 3))
F.rms_norm(a, (3,))
F.rms_norm(a, (a.shape[1], 3))
seeded(lambda: F.dropout(a, 0.5))
seeded(lambda: F.dropout(a, 0.5, training=False))
seeded(lambda: F.dropout(h, 0.5))
seeded(lambda: torch.native_dropout(a, 0.5, True))
F.embedding(i, torch.arange(10.0).view(5, 2))
F.embedding(i.transpose(1, 2), torch.arange(10.0).view(5, 2))
F.conv2d(q.unsqueeze(2), torch.ones(1, 1, 1, 1))
torch.nn.Linear(3, 2)(a).shape
torch.nn.LayerNorm(3)(a)
torch.nn.Dropout(0.0)(a)
torch.nn.Sequential(torch.nn.ReLU(), torch.nn.GELU())(a)
gradient(lambda x: F.softmax(x, -1), a)
gradient(lambda x, w, z: F.layer_norm(x, (3,), w, z), a, T([1.0, 2.0, 3.0]), torch.ones(3))
gradient(lambda w: F.embedding(i, w), torch.arange(10.0).view(5, 2))
seeded(lambda: gradient(lambda x: F.dropout(x, 0.5), a))
gradient(lambda x: F.rms_norm(x, (3,)), a)
""".strip().splitlines()


@pytest.mark.parametrize("expression", LAYERS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


@pytest.mark.parametrize("of_sequences", [True, False], ids=["softmax of each sequence", "log_softmax of each element"])
def test_a_gradient_that_pytorch_does_not_have_is_that_of_each_sequence_by_itself(of_sequences: bool) -> None:
    F = glasstorch.nn.functional
    function, dim = (F.softmax, 1) if of_sequences else (F.log_softmax, -1)
    values = glasstorch.arange(21.0).reshape(7, 3).sin()
    weight = glasstorch.arange(21.0).reshape(7, 3).cos()
    x = glasstorch.nested.nested_tensor_from_jagged(values, glasstorch.tensor([0, 2, 6, 7])).requires_grad_()
    (function(x, dim).values() * weight).sum().backward()
    leaf = values.clone().requires_grad_()
    pieces = zip(leaf.split([2, 4, 1]), weight.split([2, 4, 1]), strict=True)
    sum((function(piece, 0 if of_sequences else -1) * w).sum() for piece, w in pieces).backward()
    assert glasstorch.allclose(x.grad.values(), leaf.grad, atol=1e-6)
