"""Are dtypes that no kernel for CUDA computes in kept there, moved, and otherwise refused by name?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.dtype import BY_NAME, DTYPES
from glasstorch.kernels.cuda.tensors import COMPUTED
from tests.kernels.cuda.devices import Devices

STORED = [d.name for d in DTYPES if d not in COMPUTED]


def there(cuda: Devices, name: str) -> Any:
    """Six elements on the device: 0, 1, 2 in two rows."""
    return (glasstorch.arange(6) % 3).to(BY_NAME[name]).view(2, 3).to(cuda.device)


@pytest.mark.parametrize("name", STORED)
def test_elements_are_kept_moved_and_picked(cuda: Devices, name: str) -> None:
    x = there(cuda, name)
    assert (x.dtype, x.device) == (BY_NAME[name], cuda.device)
    assert x.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert x.t().contiguous().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert x.clone()[1, 2].item() == 2
    assert x[:, glasstorch.tensor([2, 0], device=cuda.device)].tolist() == [[2, 0], [2, 0]]
    assert x.t()[0].fill_(1).tolist() == [1, 1]
    assert glasstorch.cat([x, glasstorch.zeros_like(x)]).tolist() == [[1, 1, 2], [1, 1, 2], [0, 0, 0], [0, 0, 0]]


KERNELS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + x,
    "eq": lambda x: x == x,
    "sum": lambda x: x.sum(),
    "any": lambda x: x.any(),
    "mm": lambda x: x @ x.t(),
    "addmm": lambda x: glasstorch.addmm(x[:, :2], x, x.t()),
    "cast": lambda x: x.to(glasstorch.float32),
    "where": lambda x: glasstorch.where(glasstorch.ones(2, 3, dtype=glasstorch.bool, device=x.device), x, x),
}


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_refuse_them(cuda: Devices, name: str, kernel: str) -> None:
    with pytest.raises(NotImplementedError, match=f"not implemented for '{BY_NAME[name].scalar_name}'"):
        KERNELS[kernel](there(cuda, name))
