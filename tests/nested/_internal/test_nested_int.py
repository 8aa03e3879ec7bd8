"""Does the size of a ragged dimension behave as it does in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

OF_A_SIZE = """
(lambda n: n == n)(a.shape[1])
(lambda n: n == 3)(a.shape[1])
(lambda n: 3 == n)(a.shape[1])
(lambda n: n != 3)(a.shape[1])
(lambda n: n >= 2)(a.shape[1])
(lambda n: n > 1)(a.shape[1])
(lambda n: n > 2)(a.shape[1])
(lambda n: n > 5)(a.shape[1])
(lambda n: n < 2)(a.shape[1])
(lambda n: 1 < n)(a.shape[1])
(lambda n: n < n)(a.shape[1])
(lambda n: n <= n)(a.shape[1])
(lambda n: n >= n * 2)(a.shape[1])
(lambda n: n * 2 >= n)(a.shape[1])
(lambda n: n * 2)(a.shape[1])
(lambda n: 2 * n)(a.shape[1])
(lambda n: n * 3 == 3 * n)(a.shape[1])
(lambda n: str(n) == f'{n}' == repr(n))(a.shape[1])
(lambda n: bool(n))(a.shape[1])
(lambda n: n in (1, 2))(a.shape[1])
(lambda n: n in a.shape)(a2.shape[1])
(lambda n: max(n, 2))(a.shape[1])
(lambda n: min(1, n))(a.shape[1])
(lambda n: int(n))(a.shape[1])
(lambda n: isinstance(n, int))(a.shape[1])
(lambda n: isinstance(n, torch.SymInt))(a.shape[1])
(lambda n: hash(n) == hash(a2.shape[1]))(a.shape[1])
(lambda n: n == a2.shape[1])(a.shape[1])
(lambda n: n == c.shape[1])(a.shape[1])
(lambda n: n >= c.shape[1])(a.shape[1])
(lambda n: a.clone().shape[1] == n)(a.shape[1])
(lambda n: a.sin().shape[1] == n)(a.shape[1])
(lambda n: a.to('meta').shape[1] == n)(a.shape[1])
(lambda n: again(a).shape[1] == n)(a.shape[1])
a.shape == a2.shape
a.shape == c.shape
a.shape[:2]
a.shape + (1,)
""".strip().splitlines()


@pytest.mark.parametrize("expression", OF_A_SIZE)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_what_needs_a_number_refuses_the_symbol(torch: Any) -> None:
    ragged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged).shape[1]
    with pytest.raises(RuntimeError, match="expected to contain only concrete integers"):
        torch.zeros(ragged)
    with pytest.raises(RuntimeError):
        torch.ones(6).view(2, ragged)
