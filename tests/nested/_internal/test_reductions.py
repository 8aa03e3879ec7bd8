"""Are reductions of nested tensors those of PyTorch, and refused where they are there?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

REDUCED = """
a.sum()
a.sum(1)
a.sum(-1)
a.sum(2, keepdim=True)
a.sum(1, keepdim=True)
a.sum(0)
a.sum((0, 1))
a.sum((0, 1), keepdim=True)
a.sum((0, 1, 2))
a.sum((0, 1, 2), keepdim=True)
a.sum((1, 2))
a.sum((0, 2))
a.sum(())
a.sum((), keepdim=True)
a.sum(dim=None)
a.sum(3)
a.sum(dtype=torch.float64)
a.sum(1, dtype=torch.float64)
r.sum(2)
r.sum(1)
r.sum(-1, keepdim=True)
q.sum(2)
q.sum((2, 3))
q.sum(1)
h.sum()
h.sum(1)
h.sum(-1)
v.sum(1)
v.sum(0)
a.mean()
a.mean(1)
a.mean(1, keepdim=True)
a.mean(-1)
a.mean((0, 1))
a.mean(0)
a.mean((1, 2))
q.mean(1)
q.mean((2, 3))
r.mean(2)
h.mean(1)
c.mean(1)
a.prod()
a.prod(1)
a.prod(2)
a.prod(0)
a.max()
a.min()
a.max(1)
a.max(2)
a.max(0)
a.min(1)
a.min(-1, keepdim=True)
a.amax(1)
a.amax(2)
a.amax((0, 1))
a.amax()
a.amin(1)
a.amin(dim=(0, 1))
i.amax(1)
i.amin(1)
i.max(1)
a.argmax(1)
a.argmax(2)
a.argmax()
a.argmin(1)
b.any()
b.all()
b.any(1)
b.any(2)
b.all(1)
b.all(2)
b.any((0, 1))
b.all((0, 1))
b.any(0)
a.var(2)
a.std(2)
a.cumsum(2)
a.cumsum(1)
a.logsumexp(2)
a.sort()
a.topk(2)
gradient(lambda x: x.sum(), a)
gradient(lambda x: x.mean(), a)
gradient(lambda x: x.mean(-1, keepdim=True), a)
gradient(lambda x: x.amax(1), a)
gradient(lambda x: x.amax(2), a)
gradient(lambda x: x.max(2)[0], a)
gradient(lambda x: x.amin((0, 1)), a)
gradient(lambda x: x.max(), a)
gradient(lambda x: torch.autograd.grad((x ** 3).sum(), x, create_graph=True)[0], a)
""".strip().splitlines()


@pytest.mark.parametrize("expression", REDUCED)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def padded_loop(x: Any, function: Callable[[Any], Any]) -> Any:
    """The gradient of the values when the squares of a function of each sequence are summed."""
    leaf = x.values().detach().requires_grad_()
    pieces = leaf.split(x.offsets().diff().tolist())
    sum((function(piece) ** 2).sum() for piece in pieces).backward()
    return leaf.grad


BY_SEQUENCE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "sum over each sequence": (lambda x: x.sum(1), lambda t: t.sum(0)),
    "sum over the elements": (lambda x: x.sum(2), lambda t: t.sum(1)),
    "mean over each sequence": (lambda x: x.mean(1), lambda t: t.mean(0)),
    "maximum of each sequence": (lambda x: x.max(1)[0], lambda t: t.max(0)[0]),
    "product of the elements": (lambda x: x.prod(2), lambda t: t.prod(1)),
}


@pytest.mark.parametrize("name", BY_SEQUENCE)
def test_a_gradient_that_pytorch_does_not_have_is_that_of_each_sequence_by_itself(name: str) -> None:
    whole, of_one = BY_SEQUENCE[name]
    values = glasstorch.arange(21.0).reshape(7, 3) / 4 - 2
    x = glasstorch.nested.nested_tensor_from_jagged(values, glasstorch.tensor([0, 2, 6, 7]))
    leaf = x.detach().requires_grad_()
    found = whole(leaf)
    flat = found.values() if found.is_nested else found
    (flat * flat).sum().backward()
    assert glasstorch.allclose(leaf.grad.values(), padded_loop(x, of_one))
