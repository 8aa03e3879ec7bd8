"""Are triangles cut as PyTorch cuts them, in place and into a given tensor too?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize("diagonal", [-(2**63), -9, -2, 0, 1, 2, 9, 2**62])
def test_each_diagonal(torch: Any, diagonal: int) -> None:
    x = torch.arange(1, 25).view(2, 3, 4)
    near = max(-9, min(diagonal, 9))
    assert x.tril(diagonal).tolist() == np.tril(np.asarray(x.tolist()), near).tolist()
    assert torch.triu(x, diagonal=diagonal).tolist() == np.triu(np.asarray(x.tolist()), near).tolist()


def test_in_place_and_into_a_tensor(torch: Any) -> None:
    x = torch.arange(1.0, 10.0).view(3, 3)
    view = x.t()
    assert view.tril_() is view
    assert x.tolist() == [[1, 2, 3], [0, 5, 6], [0, 0, 9]]
    out = torch.empty(0)
    assert torch.triu(x, 1, out=out) is out
    assert out.tolist() == [[0, 2, 3], [0, 0, 6], [0, 0, 0]]
    assert view.triu_(1).tolist() == [[0, 0, 0]] * 3


def test_nothing_and_infinity(torch: Any) -> None:
    assert tuple(torch.zeros(0, 2).tril().shape) == (0, 2)
    assert torch.full((2, 2), float("inf")).tril().tolist() == [[float("inf"), 0], [float("inf"), float("inf")]]


def test_the_gradient_is_cut_too(torch: Any) -> None:
    x = torch.zeros(2, 2, requires_grad=True)
    x.tril(-1).sum().backward()
    assert x.grad.tolist() == [[0, 0], [1, 0]]
