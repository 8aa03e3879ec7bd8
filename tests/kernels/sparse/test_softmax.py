"""Is softmax over specified elements PyTorch's?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

EXPRESSIONS = """
torch.sparse.softmax(c, 0)
torch.sparse.softmax(c, 1)
torch.sparse.softmax(u, 1)
torch.sparse.softmax(h, 2)
torch.sparse.softmax(h, 0)
torch.sparse.log_softmax(c, 1)
torch.sparse.log_softmax(h, 1)
torch.sparse.softmax(c, 1, dtype=torch.float64)
torch.sparse.softmax(d, 1)
torch.sparse.softmax(n, 1)
torch.sparse.softmax(z, 1)
torch.sparse.softmax(c, 2)
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_the_gradient_is_that_of_pytorch(require: Callable[[str], Any], name: str, dim: int) -> None:
    found = []
    for library in (glasstorch, require("torch")):
        x = library.tensor([[[1.0, 2.0], [0.0, 0.0]], [[0.0, -1.0], [3.0, 0.5]]]).to_sparse(2).requires_grad_()
        y = getattr(library.sparse, name)(x, dim).to_dense()
        (y * library.arange(8.0).reshape(2, 2, 2)).sum().backward()
        found.append(x.grad.to_dense().reshape(8).tolist())
    assert found[0] == pytest.approx(found[1], abs=1e-5)
