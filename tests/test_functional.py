"""Do functions of any number of tensors take them one after the other?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


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
