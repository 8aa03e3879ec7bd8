"""Are turned and repeated tensors laid out, refused and differentiated as in PyTorch?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def test_quarter_turns(torch: Any) -> None:
    x = torch.arange(6).view(2, 3)
    assert x.rot90().tolist() == [[2, 5], [1, 4], [0, 3]]
    assert x.rot90(2).tolist() == x.rot90(-2).tolist() == [[5, 4, 3], [2, 1, 0]]
    assert x.rot90(-1).tolist() == x.rot90(3).tolist() == x.rot90(1, [1, 0]).tolist() == [[3, 0], [4, 1], [5, 2]]
    assert (x.rot90().stride(), x.t().rot90(4).stride()) == ((1, 3), (2, 1))
    assert x.rot90(0).data_ptr() != x.data_ptr()
    assert (x.fliplr().tolist(), x.flipud().tolist()) == ([[2, 1, 0], [5, 4, 3]], [[3, 4, 5], [0, 1, 2]])


def test_repetitions(torch: Any) -> None:
    x = torch.arange(4).view(2, 2)
    assert x.repeat(1, 2).tolist() == [[0, 1, 0, 1], [2, 3, 2, 3]]
    assert x[0].repeat([2, 1]).tolist() == x[0].tile(2, 1).tolist() == [[0, 1], [0, 1]]
    assert x.t().repeat(2, 1).tolist() == [[0, 2], [1, 3]] * 2
    assert x.tile(2).tolist() == torch.tile(x, (1, 2)).tolist() == [[0, 1, 0, 1], [2, 3, 2, 3]]
    assert tuple(x.repeat(0, 3).shape) == (0, 6)
    assert torch.tensor(7).repeat(3).tolist() == [7, 7, 7]


def test_a_repeated_element_receives_the_sum(torch: Any) -> None:
    x = torch.zeros(2, 1, requires_grad=True)
    y = x.repeat(3, 1, 2)
    assert y.grad_fn.name() == "RepeatBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [[6], [6]]
    x.grad = None
    x.repeat(0, 1, 1).sum().backward()
    assert x.grad.tolist() == [[0], [0]]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda x: x.repeat(2), RuntimeError, "can not be smaller than number of dimensions of tensor"),
        (lambda x: x.repeat(-1, 0), RuntimeError, r"negative dimension -2: \[-2, 0\]"),
        (lambda x: x.rot90(1, [0]), RuntimeError, "expected total rotation dims == 2, but got dims = 1"),
        (lambda x: x[0].rot90(), RuntimeError, "expected total dims >= 2, but got total dims = 1"),
        (lambda x: x.rot90(1, [0, -2]), RuntimeError, "to be different, but got dim0 = 0 and dim1 = -2"),
        (lambda x: x.rot90(0, [0, 2]), IndexError, r"range of \[-2, 1\], but got 2"),
        (lambda x: x[0].fliplr(), RuntimeError, "Input must be >= 2-d"),
        (lambda x: x[0, 0].flipud(), RuntimeError, "Input must be >= 1-d"),
    ],
)
def test_what_is_refused(torch: Any, make: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(torch.zeros(2, 3))
