"""Are borders added and cut as in PyTorch?"""

from __future__ import annotations

from typing import Any

import pytest


def test_the_last_dimension_comes_first(torch: Any) -> None:
    x = torch.ones(2, 2, dtype=torch.int64)
    assert torch.constant_pad_nd(x, [1, 0]).tolist() == [[0, 1, 1], [0, 1, 1]]
    assert torch.constant_pad_nd(x, (0, 1, 1, 0), 7).tolist() == [[7, 7, 7], [1, 1, 7], [1, 1, 7]]


def test_negative_numbers_cut(torch: Any) -> None:
    x = torch.arange(6).view(2, 3)
    assert torch.constant_pad_nd(x, [-1, 1]).tolist() == [[1, 2, 0], [4, 5, 0]]
    cut = torch.constant_pad_nd(x, [-1, -1])
    assert cut.tolist() == [[1], [4]]
    assert cut.data_ptr() not in range(x.data_ptr(), x.data_ptr() + 48)
    assert torch.constant_pad_nd(x, []).tolist() == x.tolist()


def test_channels_last_stays_so(torch: Any) -> None:
    x = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert torch.constant_pad_nd(x, [1, 1]).stride() == (84, 1, 21, 3)


def test_the_border_has_no_gradient(torch: Any) -> None:
    x = torch.zeros(3, requires_grad=True)
    y = torch.constant_pad_nd(x, [1, -1], 5.0)
    assert y.grad_fn.name() == "ConstantPadNdBackward0"
    y.backward(torch.tensor([1.0, 2.0, 3.0]))
    assert x.grad.tolist() == [2, 3, 0]


@pytest.mark.parametrize(
    ("pad", "message"),
    [
        ([1], "Length of pad must be even but instead it equals 1"),
        ([1] * 6, "no more than twice the number of dimensions of the input. Pad length is 6"),
        ([-4, 1], "length must be non-negative"),
        ([1, -5], "length must be non-negative"),
    ],
)
def test_what_cannot_be_padded(torch: Any, pad: list[int], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.constant_pad_nd(torch.zeros(2, 3), pad)
