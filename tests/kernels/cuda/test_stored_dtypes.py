"""Are dtypes that no kernel for CUDA computes in kept there, moved, and otherwise refused by name?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.dtype import BY_NAME, DTYPES
from glasstorch.kernels.cuda.tensors import COMPUTED
from tests.devices.devices import Devices

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


@pytest.mark.parametrize("name", STORED)
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_casts_are_done_in_main_memory(cuda: Devices, name: str) -> None:
    x = there(cuda, name)
    for other in (glasstorch.float32, glasstorch.complex64, glasstorch.int8):
        cast = x.to(other)
        assert (cast.device, cast.dtype) == (cuda.device, other)
        assert cast.tolist() == [[0, 1, 2], [0, 1, 2]]
    target = glasstorch.zeros(3, 2, device=cuda.device).t()
    assert target.copy_(x).tolist() == [[0, 1, 2], [0, 1, 2]]
    assert x.cpu().to(glasstorch.float32).to(cuda.device, x.dtype, non_blocking=True).tolist() == [[0, 1, 2], [0, 1, 2]]


KERNELS: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: x + x,
    "eq": lambda x: x == x,
    "max": lambda x: x.max(),
    "any": lambda x: x.any(),
    "mm": lambda x: x @ x.t(),
    "addmm": lambda x: glasstorch.addmm(x[:, :2], x, x.t()),
    "where": lambda x: glasstorch.where(glasstorch.ones(2, 3, dtype=glasstorch.bool, device=x.device), x, x),
}


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_refuse_them(cuda: Devices, name: str, kernel: str) -> None:
    with pytest.raises(NotImplementedError, match=f"not implemented for '{BY_NAME[name].scalar_name}'"):
        KERNELS[kernel](there(cuda, name))


def test_a_number_of_sixteen_bytes_is_not_scattered(cuda: Devices) -> None:
    z = glasstorch.zeros(3, dtype=glasstorch.complex128, device=cuda.device)
    index = glasstorch.tensor([0, 2], device=cuda.device)
    assert z.flip(0).tolist() == [0, 0, 0]
    assert z.scatter(0, index, z[:2]).tolist() == [0, 0, 0]
    with pytest.raises(NotImplementedError, match="not implemented for 'ComplexDouble'"):
        z.scatter(0, index, 1j)
    with pytest.raises(NotImplementedError, match="not implemented for 'ComplexDouble'"):
        z.nonzero()
