"""Are slices of COO tensors picked as PyTorch picks them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.kernels.sparse.expressions import said

EXPRESSIONS = """
c.index_select(0, T([1, 0]))
c.index_select(0, T([1, 1]))
c.index_select(1, T([0]))
c.index_select(0, T([5]))
h.index_select(2, T([1]))
h.index_select(1, T([1]))
u.index_select(0, T([0]))
""".strip().splitlines()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
