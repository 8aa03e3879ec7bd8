"""Does a nested tensor tell of itself what it tells in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

FACTS = """
a
a.shape
a.size()
a.size(1)
a.size(-1)
a.size(5)
a.stride()
a.dim()
a.ndim
a.numel()
h.numel()
a.nelement()
len(a)
a.layout
a.is_nested
torch.ones(2).is_nested
a.device
a.dtype
h
r
v
i
b
q
a.offsets()
a.lengths()
h.lengths()
repr(a)
str(r)
repr(h)
a.tolist()
a.item()
bool(a)
list(a)
a.is_leaf
a.requires_grad
a.is_same_size(a2)
a.is_same_size(c)
torch._C._dispatch_keys(a) == torch._C._dispatch_keys(h)
str(torch._C._dispatch_keys(a))
""".strip().splitlines()


@pytest.mark.parametrize("expression", FACTS)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)
