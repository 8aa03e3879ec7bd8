"""Do functions of any number of tensors take them one after the other?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch


def test_tensors_stand_side_by_side(torch: Any) -> None:
    x = torch.tensor([1, 2])
    assert torch.functional.block_diag(x, x).tolist() == torch.block_diag(x, x).tolist() == [[1, 2, 0, 0], [0, 0, 1, 2]]
    assert torch.cartesian_prod(x, x).tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]]
    assert len(torch.meshgrid(x, x, indexing="ij")) == len(torch.meshgrid([x, x], indexing="ij")) == 2
    assert isinstance(torch.meshgrid(x, x, indexing="ij"), tuple)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: t.block_diag([x, x]),
        lambda t, x: t.cartesian_prod([x, x]),
        lambda t, x: t.meshgrid([x], [x], indexing="ij"),
    ],
)
def test_a_list_is_no_tensor(torch: Any, call: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError, match="expected Tensor as element 0 in argument 0, but got list"):
        call(torch, torch.ones(2))


def test_tensors_get_the_dimensions_that_they_lack(torch: Any) -> None:
    number, vector, matrix = torch.tensor(1), torch.ones(3), torch.ones(2, 3)
    assert [tuple(t.shape) for t in torch.atleast_1d(number, vector)] == [(1,), (3,)]
    assert [tuple(t.shape) for t in torch.atleast_2d([number, vector, matrix])] == [(1, 1), (1, 3), (2, 3)]
    assert [tuple(t.shape) for t in torch.atleast_3d(number, vector, matrix)] == [(1, 1, 1), (1, 3, 1), (2, 3, 1)]
    assert torch.atleast_2d(matrix).data_ptr() == matrix.data_ptr()


def test_tensors_are_broadcast_together(torch: Any) -> None:
    x, y = torch.ones(2, 1), torch.ones(3)
    wide = torch.broadcast_tensors(x, y, torch.ones(2, 3))
    assert [tuple(t.stride()) for t in wide] == [(1, 0), (0, 1), (3, 1)]
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(7\)"):
        torch.broadcast_tensors(y, torch.ones(7))


def test_shapes_are_broadcast_without_tensors(torch: Any) -> None:
    assert torch.broadcast_shapes((2, 1), 3, (1, 1, 1)) == torch.Size([1, 2, 3])
    assert torch.broadcast_shapes() == torch.Size([])
    with pytest.raises(RuntimeError, match=r"dimension of length 5 at -1! Mismatching argument at index 1 had \(5,\)"):
        torch.broadcast_shapes((2, 3), (5,))
    with pytest.raises(RuntimeError, match=r"Input shapes should be of type ints, a tuple of ints, or a list of ints"):
        torch.broadcast_shapes((2, 3), {3})
    with pytest.raises(ValueError, match="broadcast a dimension with negative length"):
        torch.broadcast_shapes((-2,))


def test_split_takes_a_size_or_sizes_under_its_own_name(torch: Any) -> None:
    x = torch.arange(5)
    assert [t.tolist() for t in torch.split(x, split_size_or_sections=2)] == [[0, 1], [2, 3], [4]]
    assert [t.tolist() for t in torch.split(x, [1, 4], dim=0)] == [[0], [1, 2, 3, 4]]


def test_tensordot_takes_two_lists_of_dimensions() -> None:
    x = glasstorch.ones(2, 2)
    assert glasstorch.tensordot(x, x, glasstorch.tensor([[0], [0]])).tolist() == [[2, 2], [2, 2]]
    with pytest.raises(RuntimeError, match="dims tensor must have size 2 in first dimension, got 3"):
        glasstorch.tensordot(x, x, glasstorch.tensor([[0], [0], [0]]))
    for dims, refusal in (
        ([[0], [0], [0]], ValueError),
        ([[0]], ValueError),
        (1.5, RuntimeError),
        (None, RuntimeError),
    ):
        with pytest.raises(refusal, match=r"expects dims to be int or .* containing two lists, but got dims="):
            glasstorch.tensordot(x, x, dims)
