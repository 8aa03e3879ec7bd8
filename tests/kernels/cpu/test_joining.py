"""Do joined tensors hold all elements, in the dtype and the layout that PyTorch gives them?"""

from __future__ import annotations

from typing import Any

import pytest


def test_along_each_dimension(torch: Any) -> None:
    x = torch.arange(6).view(2, 3)
    assert torch.cat([x, x[:1]]).tolist() == [[0, 1, 2], [3, 4, 5], [0, 1, 2]]
    assert torch.cat([x, x[:, :1]], -1).tolist() == [[0, 1, 2, 0], [3, 4, 5, 3]]
    assert torch.cat((x.t(), x.t()), dim=1).tolist() == [[0, 3, 0, 3], [1, 4, 1, 4], [2, 5, 2, 5]]
    assert torch.stack([x, x], -1).tolist() == [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5]]]


def test_dtypes_promote_and_empty_vectors_count(torch: Any) -> None:
    x = torch.tensor([1, 2])
    assert torch.cat([x, torch.tensor([0.5])]).tolist() == [1, 2, 0.5]
    assert torch.cat([x, torch.tensor([True])]).dtype is torch.int64
    joined = torch.cat([x.view(1, 2), torch.empty(0, dtype=torch.float64)])
    assert (joined.tolist(), joined.dtype) == ([[1, 2]], torch.float64)


def test_an_empty_vector_fits_anything(torch: Any) -> None:
    x, nothing = torch.zeros(2, 3), torch.empty(0)
    assert tuple(torch.cat([nothing, x], 1).shape) == (2, 3)
    assert tuple(torch.cat([nothing, nothing]).shape) == (0,)
    assert tuple(torch.cat([torch.empty(0, 3), x]).shape) == (2, 3)


def test_channels_last_stays_so_if_all_are(torch: Any) -> None:
    x = torch.zeros(2, 3, 4, 5)
    y = x.contiguous(memory_format=torch.channels_last)
    assert tuple(torch.cat([y, y]).stride()) == (60, 1, 15, 3)
    assert tuple(torch.cat([y, x]).stride()) == (60, 20, 5, 1)


def test_into_a_given_tensor(torch: Any) -> None:
    x = torch.arange(4).view(2, 2)
    out = torch.zeros(2, 4).t()
    assert torch.cat([x, x], out=out) is out
    assert out.tolist() == [[0, 1], [2, 3]] * 2
    assert tuple(out.stride()) == (1, 4)
    assert torch.cat([x, x.double()], out=torch.empty(0)).dtype is torch.float32


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda t: t.cat([t.tensor(1.0)]), RuntimeError, r"zero-dimensional tensor \(at position 0\) cannot be"),
        (lambda t: t.cat([t.zeros(2, 3), t.zeros(3)]), RuntimeError, "same number of dimensions: got 2 and 1"),
        (
            lambda t: t.cat([t.zeros(2, 3), t.zeros(2, 4)]),
            RuntimeError,
            "match except in dimension 0. Expected size 3 but got size 4 for tensor number 1 in the list",
        ),
        (lambda t: t.cat([t.zeros(2, 3)], 2), IndexError, r"range of \[-2, 1\], but got 2"),
        (lambda t: t.cat([t.zeros(2)], out=t.empty(0, dtype=t.int64)), TypeError, "desired output type Long"),
        (lambda t: t.cat([t.zeros(1)] * 2, out=t.zeros(1).expand(2)), RuntimeError, "more than one element"),
        (lambda t: t.stack([t.zeros(2), t.zeros(3)]), RuntimeError, r"got \[2\] at entry 0 and \[3\] at entry 1"),
        (lambda t: t.stack([t.zeros(2)], 2), IndexError, r"range of \[-2, 1\], but got 2"),
    ],
)
def test_what_cannot_be_joined(torch: Any, make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(torch)


def test_reading_what_is_being_written_is_refused(torch: Any) -> None:
    x = torch.zeros(4, 3)
    for parts in ([x[:2], x[2:]], [x, torch.empty(0)]):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            torch.cat(parts, out=x)
