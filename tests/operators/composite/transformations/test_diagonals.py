"""Do vectors become diagonals, and diagonals vectors, as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def test_diag_goes_both_ways_and_copies(torch: Any) -> None:
    x = torch.arange(6).view(2, 3)
    assert torch.diag(x[0], 1).tolist() == [[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 2], [0, 0, 0, 0]]
    assert (x.diag().tolist(), x.diag(-1).tolist(), x.diag(9).tolist()) == ([0, 4], [3], [])
    assert x.diag().data_ptr() != x.data_ptr()
    assert torch.diagflat(x[:, :2], -1)[1:, :-1].tolist() == torch.diag(torch.tensor([0, 1, 3, 4])).tolist()


def test_a_diagonal_in_two_new_dimensions(torch: Any) -> None:
    x = torch.tensor([[1, 2], [3, 4]])
    assert torch.diag_embed(x).tolist() == [[[1, 0], [0, 2]], [[3, 0], [0, 4]]]
    last = x.diag_embed(offset=1, dim1=0, dim2=2)
    assert tuple(last.shape) == (3, 2, 3)
    assert last[0].tolist() == [[0, 1, 0], [0, 3, 0]]
    assert tuple(torch.zeros(0).diag_embed().shape) == (0, 0)


def test_gradients_come_from_the_diagonal(torch: Any) -> None:
    x = torch.zeros(2, requires_grad=True)
    y = torch.diag(x, 1)
    assert y.grad_fn.name() == "DiagEmbedBackward0"
    y.backward(torch.arange(9.0).view(3, 3))
    assert x.grad.tolist() == [1, 5]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda t: t.diag(t.tensor(1.0)), RuntimeError, r"Supports 1D or 2D tensors. Got 0D"),
        (lambda t: t.diag(t.ones(1, 1, 1)), RuntimeError, r"Supports 1D or 2D tensors. Got 3D"),
        (lambda t: t.diag_embed(t.ones(2), 0, 0, -2), RuntimeError, "diagonal dimensions cannot be identical 0, -2"),
        (lambda t: t.diag_embed(t.ones(2), 0, 0, 2), IndexError, r"range of \[-2, 1\], but got 2"),
        (lambda t: t.diag_embed(t.tensor(1.0)), IndexError, r"range of \[-1, 0\], but got -2"),
        (lambda t: t.diag_embed(t.tensor(1.0), 0, 0, 0), RuntimeError, "cannot be identical 0, 0"),
    ],
)
def test_what_has_no_diagonal(torch: Any, make: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(torch)


def test_a_diagonal_that_wraps_starts_anew_below_its_end(torch: Any) -> None:
    x = torch.zeros(7, 3)
    assert x.fill_diagonal_(5, wrap=True) is x
    assert x.nonzero().tolist() == [[0, 0], [1, 1], [2, 2], [4, 0], [5, 1], [6, 2]]
    assert torch.zeros(4, 3).fill_diagonal_(5, wrap=True).sum().item() == 15


@pytest.mark.parametrize(
    ("shape", "message"), [((3,), "dimensions must larger than 1"), ((2, 3, 4), "all dimensions of input must be of")]
)
def test_what_has_no_diagonal_to_fill(torch: Any, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.zeros(shape).fill_diagonal_(1)
