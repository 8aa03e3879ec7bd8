"""Is a kernel launched on the tensors it is given, where they are, and refused others?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import AcceleratorError, ArgumentTypeError, DeviceError, DtypeError
from glasstorch.devices import runtime
from glasstorch.devices.driver import Kernel
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.devices.launch import grid_for, launch

SOURCE = """extern "C" __global__ void add(float* y, const float* x, float step, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + step;
}
extern "C" __global__ void where(int* out) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z;
    out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z;
  }
}
extern "C" __global__ void any(const void* x, float* y) { y[0] = ((const unsigned char*)x)[0]; }"""


@pytest.fixture
def driver() -> Iterator[SimDriver]:
    yield runtime.use_simulator(devices=2, memory=1 << 24)
    runtime.use_driver(None)


def named(driver: SimDriver, name: str) -> Kernel:
    return driver.load(SOURCE, "launched.cu").kernel(name)


def test_as_many_blocks_as_give_each_element_a_thread() -> None:
    assert [grid_for(count, 256) for count in (0, 1, 256, 257, 1000)] == [1, 1, 1, 2, 4]


def test_a_tensor_stands_for_its_first_element(driver: SimDriver) -> None:
    x = glasstorch.arange(10.0, device="cuda")
    y = glasstorch.zeros(10, device="cuda")
    launch(named(driver, "add"), 1, 32, (y[2:], x[5:], np.float32(0.5), np.int32(4)))
    assert y.tolist() == [0, 0, 5.5, 6.5, 7.5, 8.5, 0, 0, 0, 0]


@pytest.mark.parametrize("size", [1.5, "a", None, (), (1.5, 1, 1), (4.0, 1), (1, 1, 1, 9), (1, "a"), ((1, 1),), {1, 2}])
def test_a_size_that_is_not_one_to_three_ints_is_refused_at_the_launch(driver: SimDriver, size: Any) -> None:
    out = glasstorch.zeros(6, dtype=glasstorch.int32, device="cuda")
    words = re.escape(f" is {size!r}; expected an int or one to three ints")
    with pytest.raises(ArgumentTypeError, match=f"^grid{words}"):
        launch(named(driver, "where"), size, 1, (out,))
    with pytest.raises(ArgumentTypeError, match=f"^block{words}"):
        launch(named(driver, "where"), 1, size, (out,))
    driver.synchronize()


def test_shared_memory_that_is_no_int_is_refused_at_the_launch(driver: SimDriver) -> None:
    out = glasstorch.zeros(6, dtype=glasstorch.int32, device="cuda")
    with pytest.raises(ArgumentTypeError, match=r"^shared_memory is 1\.5; expected an int, in bytes"):
        launch(named(driver, "where"), 1, 1, (out,), 1.5)  # type: ignore[arg-type]
    launch(named(driver, "where"), 1, 1, (out,), np.int64(16))  # type: ignore[arg-type]
    assert out.tolist() == [1] * 6


@pytest.mark.parametrize(
    ("grid", "block", "sizes"),
    [
        (np.int64(3), [np.int32(8)], (3, 1, 1, 8, 1, 1)),
        (3, 8, (3, 1, 1, 8, 1, 1)),
        ((3,), (4, 2), (3, 1, 1, 4, 2, 1)),
        ((3, 2, 4), (2, 3, 4), (3, 2, 4, 2, 3, 4)),
    ],
)
def test_sizes_that_are_not_given_are_one(driver: SimDriver, grid: Any, block: Any, sizes: tuple[int, ...]) -> None:
    out = glasstorch.zeros(6, dtype=glasstorch.int32, device="cuda")
    launch(named(driver, "where"), grid, block, (out,))
    assert out.tolist() == list(sizes)


def test_the_kernel_runs_on_the_device_of_its_tensors(driver: SimDriver) -> None:
    x = glasstorch.arange(4.0, device="cuda:1")
    y = glasstorch.zeros(4, device="cuda:1")
    launch(named(driver, "add"), 1, 4, (y, x, np.float32(1), np.int32(4)))
    assert driver.current_device() == 0
    assert y.tolist() == [1, 2, 3, 4]


def test_a_tensor_on_another_device_is_refused(driver: SimDriver) -> None:
    x, y = glasstorch.zeros(4, device="cuda:1"), glasstorch.zeros(4, device="cuda:0")
    words = r"add: argument 1 is a tensor on cuda:1, the kernel is launched on cuda:0"
    with pytest.raises(DeviceError, match=words):
        launch(named(driver, "add"), 1, 4, (y, x, np.float32(1), np.int32(4)))
    with pytest.raises(DeviceError, match=r"add: argument 1 is a tensor on cpu"):
        launch(named(driver, "add"), 1, 4, (y, glasstorch.zeros(4), np.float32(1), np.int32(4)))


def test_a_tensor_of_another_dtype_is_refused(driver: SimDriver) -> None:
    x, y = glasstorch.zeros(4, dtype=glasstorch.float64, device="cuda"), glasstorch.zeros(4, device="cuda")
    words = r"add: argument 1 is a tensor of .*float64, the parameter is const float32\*"
    with pytest.raises(DtypeError, match=words):
        launch(named(driver, "add"), 1, 4, (y, x, np.float32(1), np.int32(4)))
    with pytest.raises(DtypeError, match=r"add: argument 2 is a tensor, the parameter is float32, which is no pointer"):
        launch(named(driver, "add"), 1, 4, (y, y, y, np.int32(4)))


def test_a_pointer_to_anything_takes_every_dtype(driver: SimDriver) -> None:
    y = glasstorch.zeros(1, device="cuda")
    launch(named(driver, "any"), 1, 1, (glasstorch.full((2,), 7, dtype=glasstorch.int64).cuda(), y))
    assert y.item() == 7


def test_another_number_of_arguments_is_refused(driver: SimDriver) -> None:
    y = glasstorch.zeros(1, device="cuda")
    for arguments in ((y,), (y, y, np.float32(1), np.int32(1), y)):
        with pytest.raises(ArgumentTypeError, match=r"add: \d arguments were given, the kernel has 4 parameters"):
            launch(named(driver, "add"), 1, 1, arguments)


def test_sizes_that_a_card_refuses_are_refused_at_the_launch(driver: SimDriver) -> None:
    y = glasstorch.zeros(1, device="cuda")
    with pytest.raises(AcceleratorError, match="2048 threads") as error:
        launch(named(driver, "add"), 1, 2048, (y, y, np.float32(1), np.int32(1)))
    assert error.value.code == 9
    assert y.item() == 0
