"""Are tensors side by side, below, behind and on a diagonal joined as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def test_vectors_are_rows_or_columns(torch: Any) -> None:
    x, y = torch.tensor([1, 2]), torch.tensor([3, 4])
    assert torch.hstack([x, y]).tolist() == [1, 2, 3, 4]
    assert torch.vstack([x, y]).tolist() == torch.row_stack((x, y)).tolist() == [[1, 2], [3, 4]]
    assert torch.dstack([x, y]).tolist() == [[[1, 3], [2, 4]]]
    assert torch.column_stack([x, y, y.view(2, 1)]).tolist() == [[1, 3, 3], [2, 4, 4]]
    assert torch.column_stack([torch.tensor(1), torch.tensor(2)]).tolist() == [[1, 2]]


def test_cat_has_two_other_names(torch: Any) -> None:
    x = torch.tensor([[1, 2]])
    assert torch.concat([x, x], dim=1).tolist() == torch.concatenate((x, x), 1).tolist() == [[1, 2, 1, 2]]


def test_block_diag_promotes_and_takes_anything_up_to_matrices(torch: Any) -> None:
    blocks = torch.block_diag(torch.tensor([[1, 2]]), torch.tensor(3), torch.tensor([4.0, 5.0], dtype=torch.float64))
    assert blocks.tolist() == [[1, 2, 0, 0, 0], [0, 0, 3, 0, 0], [0, 0, 0, 4, 5]]
    assert blocks.dtype is torch.float64
    assert tuple(torch.block_diag().shape) == (1, 0)
    assert torch.block_diag(torch.zeros(2), torch.tensor(1, dtype=torch.float64)).dtype is torch.float32


def test_gradients_find_their_block(torch: Any) -> None:
    x, y = torch.zeros(2, requires_grad=True), torch.zeros((), requires_grad=True)
    blocks = torch.block_diag(x, y)
    assert blocks.grad_fn.name() == "BlockDiagBackward0"
    blocks.backward(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    assert (x.grad.tolist(), y.grad.item()) == ([1, 2], 6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t.hstack([]), "hstack expects a non-empty TensorList"),
        (lambda t: t.vstack([]), "vstack expects a non-empty TensorList"),
        (lambda t: t.dstack([]), "dstack expects a non-empty TensorList"),
        (lambda t: t.column_stack([]), "column_stack expects a non-empty TensorList"),
        (lambda t: t.hstack([t.ones(2), t.ones(1, 3)]), "same number of dimensions: got 1 and 2"),
        (lambda t: t.column_stack([t.ones(2), t.ones(3)]), "except in dimension 1. Expected size 2 but got size 3"),
        (lambda t: t.block_diag(t.ones(2), t.ones(1, 1, 1)), "Input 1 has 3 dimensions"),
        (lambda t: t.block_diag(t.ones(2), t.ones(2, device="meta")), "Input 0 is on device cpu and input 1 is on d"),
    ],
)
def test_what_cannot_be_joined(torch: Any, make: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        make(torch)
