"""Is attention over nested tensors that of PyTorch, and that of each sequence by itself?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

ATTENTION = """
gradient(lambda x: F.scaled_dot_product_attention(x.transpose(1, 2), x.transpose(1, 2), x.transpose(1, 2)), q)
gradient(lambda x, y: F.scaled_dot_product_attention(x.transpose(1, 2), y.transpose(1, 2), y.transpose(1, 2)), q, q + 1)
F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2), q.transpose(1, 2))
F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2), q.transpose(1, 2), scale=0.1)
F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2), q.transpose(1, 2), is_causal=True)
F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2), q.transpose(1, 2), attn_mask=torch.ones(2, 2))
F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2), q.transpose(1, 2).double())
F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2), torch.ones(3, 2, 4, 4))
F.scaled_dot_product_attention(q, q, q)
F.scaled_dot_product_attention(a, a, a)
F.scaled_dot_product_attention(v, v, v)
F.scaled_dot_product_attention(q.transpose(1, 2), q, q)
F.scaled_dot_product_attention(q.transpose(1, 2), q.transpose(1, 2)[..., :2], q.transpose(1, 2))
F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in torch.cat([q, q, q], -1).chunk(3, -1)))
F.scaled_dot_product_attention(query=q.transpose(1, 2), key=q.transpose(1, 2), value=q.transpose(1, 2))
""".strip().splitlines()


@pytest.mark.parametrize("expression", ATTENTION)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_attention_is_that_of_each_sequence_by_itself(torch: Any) -> None:
    lengths, heads, width = [5, 2, 9], 2, 8
    torch.manual_seed(0)
    parts = [[torch.randn(n, heads, width, requires_grad=True) for n in lengths] for _ in range(3)]
    nested = [torch.nested.as_nested_tensor(part, layout=torch.jagged).transpose(1, 2) for part in parts]
    found = torch.nn.functional.scaled_dot_product_attention(*nested)
    assert list(found.shape)[:2] == [3, heads]
    assert found.shape[2] == nested[0].shape[2]
    found.values().sin().sum().backward()
    for sequence, q, k, v in zip(found.transpose(1, 2).unbind(), *parts, strict=True):
        leaves = [t.detach().requires_grad_() for t in (q, k, v)]
        swapped = [t.transpose(0, 1)[None] for t in leaves]
        alone = torch.nn.functional.scaled_dot_product_attention(*swapped)[0].transpose(0, 1)
        assert torch.allclose(sequence, alone, atol=1e-6)
        alone.sin().sum().backward()
        for leaf, given in zip(leaves, (q, k, v), strict=True):
            assert torch.allclose(leaf.grad, given.grad, atol=1e-6)
