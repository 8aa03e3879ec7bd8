"""Are tensors joined on a CUDA device as on the CPU, in one launch for several of them?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch as torch
from glasstorch.core.errors import DeviceError, OverlapError
from glasstorch.kernels.cuda import joining
from glasstorch.kernels.cuda.tensors import CUDA_TYPE
from tests.devices.devices import Devices


def numbers(*shape: int, dtype: torch.dtype = torch.float32, start: int = 0) -> torch.Tensor:
    """Different small numbers."""
    count = 1
    for size in shape:
        count *= size
    return torch.arange(start, start + count).view(shape).to(dtype)


def agree(cuda: Devices, tensors: list[torch.Tensor], dim: int) -> None:
    """The device's result is the CPU's: values, dtype and strides."""
    here, there = torch.cat(tensors, dim), torch.cat([x.to(cuda.device) for x in tensors], dim)
    assert there.device == cuda.device
    assert (there.dtype, there.shape, there.stride()) == (here.dtype, here.shape, here.stride())
    assert there.tolist() == here.tolist()


@pytest.mark.parametrize("dtype", CUDA_TYPE, ids=str)
def test_every_dtype_is_joined(cuda: Devices, dtype: torch.dtype) -> None:
    agree(cuda, [numbers(3, 5, dtype=dtype), numbers(2, 5, dtype=dtype, start=40)], 0)


@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_along_each_dimension(cuda: Devices, dim: int) -> None:
    shape = [5, 3, 7]
    tensors = []
    for i, size in enumerate((2, 1, 4, 3, 2, 5)):  # more than fit into one launch
        shape[dim] = size
        tensors.append(numbers(*shape, start=1000 * i))
    agree(cuda, tensors, dim)


def test_more_elements_than_a_block_has_threads(cuda: Devices) -> None:
    agree(cuda, [numbers(30, 21), numbers(30, 8, start=-300)], 1)


def test_views_of_any_strides_and_offsets(cuda: Devices) -> None:
    x = numbers(6, 4)
    agree(cuda, [x.t(), x.t()[:, 1:3]], 1)
    agree(cuda, [x[1:, 1:], x[:1, :3].expand(2, 3)], 0)
    agree(cuda, [numbers(7, dtype=torch.uint8)[3:], numbers(5, dtype=torch.uint8)], 0)


@pytest.mark.parametrize(
    ("name", "nbytes"),
    [("int4", 4), ("unsigned long long", 2), ("unsigned int", 3), ("unsigned short", 1)],
)
def test_as_many_bytes_at_once_as_all_rows_allow(
    cuda: Devices, monkeypatch: pytest.MonkeyPatch, name: str, nbytes: int
) -> None:
    asked: list[str] = []
    kernel = joining.kernel

    def noted(file: str, expression: str) -> Any:
        asked.append(expression)
        return kernel(file, expression)

    monkeypatch.setattr(joining, "kernel", noted)
    dtype = torch.float16 if name == "unsigned short" else torch.float32
    agree(cuda, [numbers(3, nbytes, dtype=dtype), numbers(3, 2 * nbytes, dtype=dtype)], 1)
    assert asked == [f"cat<{name}>"]


def test_dtypes_promote_and_empty_vectors_count(cuda: Devices) -> None:
    agree(cuda, [numbers(2, 3), numbers(1, 3, dtype=torch.int64)], 0)
    agree(cuda, [numbers(2, dtype=torch.int32), torch.empty(0, dtype=torch.float64)], 0)
    agree(cuda, [torch.empty(0), numbers(2, 3), torch.empty(0)], 1)
    agree(cuda, [torch.empty(0), torch.empty(0)], 0)
    agree(cuda, [torch.empty(2, 0), torch.empty(2, 0)], 1)


def test_channels_last_stays_so_if_all_are(cuda: Devices) -> None:
    x = numbers(2, 3, 4, 5).to(memory_format=torch.channels_last)
    agree(cuda, [x, x + 100], 1)
    agree(cuda, [x, (x + 100).contiguous()], 1)


def test_into_a_given_tensor(cuda: Devices) -> None:
    a, b = numbers(2, 3).to(cuda.device), numbers(1, 3, start=50).to(cuda.device)
    for out in (
        torch.empty(3, 3, device=cuda.device),
        torch.empty(3, 3, device=cuda.device).t(),
        torch.empty(0, device=cuda.device),
        torch.empty(3, 3, dtype=torch.float64, device=cuda.device),
    ):
        assert torch.cat([a, b], out=out) is out
        assert out.tolist() == [[0, 1, 2], [3, 4, 5], [50, 51, 52]]
    with pytest.raises(OverlapError):
        torch.cat([a[:1], a[1:]], out=a)


def test_on_a_device_that_is_not_the_current_one(cuda: Devices) -> None:
    last = f"cuda:{cuda.driver.device_count() - 1}"
    x = numbers(2, 3).to(last)
    assert torch.cat([x, x]).tolist() == torch.cat([x.t(), x.t()], 1).t().tolist() == [[0, 1, 2], [3, 4, 5]] * 2


def test_tensors_on_two_devices_are_refused(cuda: Devices) -> None:
    with pytest.raises(DeviceError, match="two devices, cuda:0 and cpu"):
        torch.cat([torch.ones(2, device=cuda.device), torch.ones(2)])
