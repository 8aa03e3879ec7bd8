"""Are elements put in another order on a CUDA device as on the CPU?"""

from __future__ import annotations

from collections.abc import Callable

import pytest

import glasstorch as torch
from glasstorch.kernels.cuda.tensors import CUDA_TYPE
from tests.devices.devices import Devices


def agree(cuda: Devices, compute: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor) -> None:
    """The device's result is the CPU's: values, dtype and strides."""
    here, there = compute(x), compute(x.to(cuda.device))
    assert there.device == cuda.device
    assert (there.dtype, there.shape, there.stride()) == (here.dtype, here.shape, here.stride())
    assert there.tolist() == here.tolist()


@pytest.mark.parametrize("dtype", CUDA_TYPE, ids=str)
def test_every_dtype_is_moved(cuda: Devices, dtype: torch.dtype) -> None:
    x = torch.arange(15).view(3, 5).to(dtype)
    agree(cuda, lambda x: x.flip(0, 1), x)
    agree(cuda, lambda x: x.roll(2, 1), x)


@pytest.mark.parametrize("dims", [(), (0,), (2,), (0, 2), (1, -1), (0, 1, 2)])
def test_flip_along_any_dimensions(cuda: Devices, dims: tuple[int, ...]) -> None:
    x = torch.arange(7 * 5 * 11).view(7, 5, 11)
    agree(cuda, lambda x: x.flip(dims), x)
    agree(cuda, lambda x: x.permute(2, 0, 1).flip(dims), x)
    agree(cuda, lambda x: x[1:, ::2, 3:].flip(dims), x)
    agree(cuda, lambda x: x[:1].expand(4, 5, 11).flip(dims), x)


@pytest.mark.parametrize(
    ("shifts", "dims"), [(1, ()), (-400, ()), (3, 0), (-2, 2), (0, 1), (100, 1), ((1, -3), (0, 2)), ((2, 2), (1, 1))]
)
def test_roll_along_any_dimensions(cuda: Devices, shifts: int | tuple[int, ...], dims: int | tuple[int, ...]) -> None:
    x = torch.arange(7 * 5 * 11).view(7, 5, 11)
    agree(cuda, lambda x: x.roll(shifts, dims), x)
    agree(cuda, lambda x: x.transpose(0, 2).roll(shifts, dims), x)
    agree(cuda, lambda x: x[1:, 1:, 1:].to(torch.uint8).roll(shifts, dims), x)


def test_roll_keeps_channels_last_where_both_parts_are(cuda: Devices) -> None:
    x = torch.arange(120.0).view(2, 3, 4, 5).to(memory_format=torch.channels_last)
    agree(cuda, lambda x: x.roll((1, 1), (0, 2)), x)
    agree(cuda, lambda x: x.roll(1), x)


def test_on_a_device_that_is_not_the_current_one(cuda: Devices) -> None:
    x = torch.arange(3).to(f"cuda:{cuda.driver.device_count() - 1}")
    assert x.flip(0).tolist() == [2, 1, 0]
    assert x.roll(1).tolist() == [2, 0, 1]


def test_nothing_and_a_single_element(cuda: Devices) -> None:
    for x in (torch.empty(0, 3), torch.tensor(1.0)):
        agree(cuda, lambda x: x.flip(0), x)
        agree(cuda, lambda x: x.roll(1), x)
    agree(cuda, lambda x: x.t().roll(1, 5), torch.empty(0, 3))
