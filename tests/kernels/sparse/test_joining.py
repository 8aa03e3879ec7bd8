"""Are COO tensors joined as PyTorch joins them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

EXPRESSIONS = """
torch.cat([c, u])
torch.cat([c, c], 1)
torch.cat([h, h], 2)
torch.cat([c, d])
torch.cat([c, h])
torch.cat([c, c.double()])
torch.cat([c, torch.ones(2, 3).to_sparse()])
torch.stack([c, c])
torch.stack([c, c], 1)
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
