"""Do grids and combinations hold what PyTorch's do, and are grids views?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def test_a_grid_varies_along_one_dimension_without_copying(torch: Any) -> None:
    x, y = torch.tensor([1, 2]), torch.tensor([3, 4, 5])
    rows, columns = torch.meshgrid(x, y, indexing="ij")
    assert (rows.tolist(), columns.tolist()) == ([[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]])
    assert (rows.stride(), columns.stride()) == ((1, 0), (0, 1))
    assert rows.data_ptr() == x.data_ptr()


def test_xy_swaps_the_first_two_dimensions(torch: Any) -> None:
    x, y, z = torch.tensor([1, 2]), torch.tensor([3, 4, 5]), torch.tensor([6, 7])
    across, down, deep = torch.meshgrid([x, y, z], indexing="xy")
    assert tuple(across.shape) == (3, 2, 2)
    assert across[..., 0].tolist() == [[1, 2]] * 3
    assert down[..., 0].tolist() == [[3, 3], [4, 4], [5, 5]]
    assert (across.stride(), down.stride(), deep.stride()) == ((0, 1, 0), (1, 0, 0), (0, 0, 1))


def test_meshgrid_without_indexing_warns_once_in_a_process() -> None:
    import glasstorch
    from glasstorch.core import warn_once

    warn_once._given.clear()
    x = glasstorch.tensor([1, 2])
    with pytest.warns(UserWarning, match="it will be required to pass the indexing argument"):
        first = glasstorch.meshgrid(x, x)
    assert [g.tolist() for g in glasstorch.meshgrid(x, x)] == [g.tolist() for g in first]


def test_all_ways_to_choose(torch: Any) -> None:
    x = torch.tensor([3, 1, 2])
    assert torch.combinations(x).tolist() == [[3, 1], [3, 2], [1, 2]]
    assert torch.combinations(x, 3).tolist() == [[3, 1, 2]]
    assert torch.combinations(x[:2], with_replacement=True).tolist() == [[3, 3], [3, 1], [1, 1]]
    assert tuple(torch.combinations(x, 0).shape) == (0,)
    assert tuple(torch.combinations(x, 4).shape) == (0, 4)
    assert torch.cartesian_prod(x[:2], x[1:]).tolist() == [[3, 1], [3, 2], [1, 1], [1, 2]]
    assert torch.cartesian_prod(x) is x


def test_gradients_go_through_combinations(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (torch.combinations(x) * torch.tensor([1.0, 10.0])).sum().backward()
    assert x.grad.tolist() == [2, 11, 20]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t.meshgrid(indexing="ij"), "meshgrid expects a non-empty TensorList"),
        (lambda t: t.meshgrid(t.ones(2), t.ones(2).long(), indexing="ij"), "to have the same dtype"),
        (lambda t: t.meshgrid(t.ones(2), t.ones(2, device="meta"), indexing="ij"), "to have the same device"),
        (lambda t: t.meshgrid(t.ones(2, 2), indexing="ij"), "Expected 0D or 1D tensor in the tensor list but got"),
        (lambda t: t.meshgrid(t.ones(2), indexing="ji"), 'must be one of "xy" or "ij", but received: ji'),
        (lambda t: t.cartesian_prod(t.ones(2), t.ones(2, 2)), r"Expect a 1D vector, but got shape \[2, 2\]"),
        (lambda t: t.combinations(t.ones(())), r"Expect a 1D vector, but got shape \[\]"),
        (lambda t: t.combinations(t.ones(2), -1), "Expect a non-negative number, but got -1"),
    ],
)
def test_what_makes_no_grid(torch: Any, make: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        make(torch)
