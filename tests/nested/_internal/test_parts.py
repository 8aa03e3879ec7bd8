"""Is a nested tensor taken apart and padded as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

PARTS = """
a.values()
a.unbind()
h.unbind()
r.unbind()
a.unbind(1)
nested.to_padded_tensor(a, 0.0)
nested.to_padded_tensor(a, -1.0, (3, 5, 3))
nested.to_padded_tensor(a, -1.0, (3, 2, 3))
nested.to_padded_tensor(r, 2.0)
nested.to_padded_tensor(v, 2.0)
nested.to_padded_tensor(i, 2.0)
nested.to_padded_tensor(b, 1.0)
nested.to_padded_tensor(q, 1.0)
nested.to_padded_tensor(h, 1.0)
nested.to_padded_tensor(c, 0.0)
a.to_padded_tensor(0.0)
nested.to_padded_tensor(torch.ones(2), 0.0)
gradient(lambda x: x.unbind()[1], a)
gradient(lambda x: torch.cat([t.sum(0) for t in x.unbind()]), a)
gradient(lambda x: x.to_padded_tensor(0.0), a)
gradient(lambda x: x.values(), a)
gradient(lambda x: x.values() * 2, a)
gradient(lambda x: x.unbind()[1], h)
gradient(lambda x: J(x, offsets), numbers)
gradient(lambda x: J(x, offsets, T([1, 3, 1])), numbers)
gradient(lambda x: J(x, offsets) * 2, numbers)
gradient(lambda x: nested.masked_select(x, x > 0), numbers)
type(J(numbers.clone().requires_grad_(), offsets).grad_fn).__name__
str(torch._C._dispatch_keys(a.values()))
""".strip().splitlines()


@pytest.mark.parametrize("expression", PARTS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
