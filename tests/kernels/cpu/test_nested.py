"""Are packed sequences padded, and padded ones packed, as PyTorch's kernels do it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nested.expressions import said

CONVERTED = """
torch.ops.aten._jagged_to_padded_dense_forward(numbers, [offsets], [4], -1.0)
torch.ops.aten._jagged_to_padded_dense_forward(numbers, [offsets], [2])
torch.ops.aten._jagged_to_padded_dense_forward(numbers, [offsets], [9])
torch.ops.aten._jagged_to_padded_dense_forward(numbers[:, 0], [offsets], [4])
torch.ops.aten._jagged_to_padded_dense_forward(numbers.view(7, 3, 1), [offsets], [4])
torch.ops.aten._jagged_to_padded_dense_forward(numbers.long(), [offsets], [4], float('inf'))
torch.ops.aten._jagged_to_padded_dense_forward(numbers.int(), [offsets], [4], float('-inf'))
torch.ops.aten._jagged_to_padded_dense_forward(numbers > 0, [offsets], [4], 1.0)
torch.ops.aten._jagged_to_padded_dense_forward(numbers, [offsets.int()], [4])
torch.ops.aten._padded_dense_to_jagged_forward(torch.arange(36.).view(3, 4, 3), [offsets])
torch.ops.aten._padded_dense_to_jagged_forward(torch.arange(36.).view(3, 4, 3), [offsets], 7)
torch.ops.aten._padded_dense_to_jagged_forward(torch.arange(36.).view(3, 4, 3), [offsets], 9)
torch.ops.aten._padded_dense_to_jagged_forward(torch.arange(36).view(3, 4, 3), [offsets])
torch.ops.aten._padded_dense_to_jagged_forward(torch.arange(27.).view(3, 3, 3), [offsets])
torch.ops.aten._padded_dense_to_jagged_forward(torch.arange(36.).view(3, 4, 3), [offsets[:3]])
""".strip().splitlines()


@pytest.mark.parametrize("expression", CONVERTED)
def test_an_expression_says_what_it_says_in_pytorch(require: Callable[[str], Any], expression: str) -> None:
    assert said(glasstorch, expression) == said(require("torch"), expression)


def test_only_one_set_of_offsets_is_taken() -> None:
    offsets = [glasstorch.tensor([0, 2, 3])] * 2
    with pytest.raises(RuntimeError, match="only a single jagged dim is supported for now"):
        glasstorch.ops.aten._jagged_to_padded_dense_forward(glasstorch.ones(3, 1), offsets, [2, 2])
    with pytest.raises(RuntimeError, match="only a single jagged dim is supported for now"):
        glasstorch.ops.aten._padded_dense_to_jagged_forward(glasstorch.ones(2, 2, 1), offsets)
