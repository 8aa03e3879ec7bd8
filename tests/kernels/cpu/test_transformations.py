"""Are elements reordered and kept in triangles as PyTorch does it?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_flip_is_a_copy_in_the_same_order_in_memory(torch: Any) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert x.flip(0, -1).tolist() == [[5, 4, 3], [2, 1, 0]]
    assert (x.t().flip([0]).stride(), x.t().flip(0).tolist()) == ((1, 3), [[2, 5], [1, 4], [0, 3]])
    assert x.flip(()).data_ptr() != x.data_ptr()
    assert torch.tensor(1.0).flip(0).item() == 1
    with pytest.raises(RuntimeError, match="dim 0 appears multiple times in the list of dims"):
        x.flip(0, -2)


def test_roll_moves_round_the_end(torch: Any) -> None:
    x = torch.arange(6).reshape(2, 3)
    assert x.roll(1).tolist() == [[5, 0, 1], [2, 3, 4]]
    assert x.roll(-4, 1).tolist() == [[1, 2, 0], [4, 5, 3]]
    assert torch.roll(x, shifts=(1, 2), dims=(0, 1)).tolist() == [[4, 5, 3], [1, 2, 0]]
    assert torch.tensor(1.0).roll(1).item() == 1


@pytest.mark.parametrize(
    ("shifts", "dims"),
    [((1, 1), (0, 0)), ((1, -1), (1, 1)), ((5, 2), (-1, 1)), ((-7,), (-2,)), ((301, -1, 2), (2, 0, -1)), ((4,), (2,))],
)
def test_roll_adds_up_the_shifts_of_a_dimension(torch: Any, shifts: tuple[int, ...], dims: tuple[int, ...]) -> None:
    array = np.arange(60).reshape(3, 5, 4)
    for order in ((0, 1, 2), (2, 0, 1)):
        view = torch.from_numpy(array).permute(order)[:, ::2]
        assert np.array_equal(view.roll(shifts, dims).numpy(), np.roll(view.numpy(), shifts, dims))


def test_roll_is_row_major_or_channels_last_where_both_parts_are(torch: Any) -> None:
    x = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert x.roll(1, 0).stride() == x.roll((1, 1), (0, 2)).stride() == (60, 1, 15, 3)
    assert x.roll(0, 0).stride() == x.roll(1).stride() == (60, 20, 5, 1)
    assert torch.zeros(2, 3).t().roll(1, 0).stride() == (2, 1)
    assert torch.zeros(0, 3).t().roll(1, 5).stride() == (1, 3)  # of nothing, the dimension is not looked at


def test_roll_wants_a_dimension_for_each_shift(torch: Any) -> None:
    x = torch.zeros(2, 3)
    with pytest.raises(RuntimeError, match="`shifts` required"):
        x.roll((), ())
    with pytest.raises(RuntimeError, match=r"shifts and dimensions must align\. shifts: 2, dims:1"):
        x.roll((1, 2), 0)
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        x.roll(1, 2)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        torch.tensor(1.0).roll(1, 0)


def test_a_dtype_that_is_only_stored_flips_where_lines_stay_whole(torch: Any) -> None:
    x = torch.arange(6).reshape(2, 3).to(torch.uint16)
    assert x.flip(0).tolist() == [[3, 4, 5], [0, 1, 2]]
    assert x.t().flip(1).tolist() == [[3, 0], [4, 1], [5, 2]]
    assert x[:, :1].flip(1).tolist() == [[0], [3]]
    for refused in (lambda: x.flip(1), lambda: x.t().flip(0), lambda: x[:, ::2].flip(0)):
        with pytest.raises(NotImplementedError, match="\"flip_cpu\" not implemented for 'UInt16'"):
            refused()


# tril, triu ----------------------------------------------------------------------------------------------------


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
