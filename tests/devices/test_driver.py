"""Do both drivers do what the protocol says? What only one of them does is tested beside it."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch.core.errors import AcceleratorError, ArgumentTypeError
from glasstorch.devices.codes import Code
from glasstorch.devices.driver import Copy, Driver, Kernel
from tests.devices.devices import Devices

SOURCE = """
extern "C" __global__ void scale(const float* from, float* to, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i] * by;
}

template <typename T>
__global__ void reverse(T* values) {
    extern __shared__ unsigned char bytes[];
    T* tile = reinterpret_cast<T*>(bytes);
    tile[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
"""
COUNT = 1000
BLOCK = 256
ONE = (1, 1, 1)


def kernel(driver: Driver, name: str) -> Kernel:
    expressions = () if name.isidentifier() else (name,)
    return driver.load(SOURCE, "test_driver.cu", expressions).kernel(name)


def to_device(driver: Driver, values: Any, stream: int = 0) -> int:
    address = driver.malloc(values.nbytes)
    driver.memcpy_async(address, values.ctypes.data, values.nbytes, Copy.HOST_TO_DEVICE, stream)
    return address


def to_host(driver: Driver, address: int, like: Any, stream: int = 0) -> Any:
    values = np.empty_like(like)
    driver.memcpy_async(values.ctypes.data, address, values.nbytes, Copy.DEVICE_TO_HOST, stream)
    return values


@pytest.fixture
def values() -> Any:
    return np.arange(COUNT, dtype=np.float32)


def test_device_memory_is_aligned_and_counted(cuda: Devices) -> None:
    driver = cuda.driver
    free, total = driver.memory_info()
    address = driver.malloc(1 << 22)
    assert address % 256 == 0
    after, same = driver.memory_info()
    assert same == total
    assert after < free <= total
    driver.free(address)


def test_bytes_go_there_and_come_back(cuda: Devices, values: Any) -> None:
    driver = cuda.driver
    first = to_device(driver, values)
    second = driver.malloc(values.nbytes)
    driver.memcpy_async(second, first, values.nbytes, Copy.DEVICE_TO_DEVICE, 0)
    driver.memset_async(first, 0xFF, values.nbytes, 0)
    np.testing.assert_array_equal(to_host(driver, second, values), values)
    assert np.isnan(to_host(driver, first, values)).all()
    driver.free(first)
    driver.free(second)


def test_pinned_memory_takes_part_in_copies(cuda: Devices, values: Any) -> None:
    driver = cuda.driver
    pinned = driver.host_alloc(values.nbytes)
    view = np.ctypeslib.as_array((ctypes.c_float * COUNT).from_address(pinned))
    view[:] = values
    address = driver.malloc(values.nbytes)
    driver.memcpy_async(address, pinned, values.nbytes, Copy.HOST_TO_DEVICE, 0)
    driver.synchronize()
    view[:] = 0
    driver.memcpy_async(pinned, address, values.nbytes, Copy.DEVICE_TO_HOST, 0)
    driver.synchronize()
    np.testing.assert_array_equal(view, values)
    driver.host_free(pinned)
    driver.free(address)


def test_a_kernel_reads_its_arguments_and_writes_its_result(cuda: Devices, values: Any) -> None:
    driver = cuda.driver
    scale = kernel(driver, "scale")
    first, second = to_device(driver, values), driver.malloc(values.nbytes)
    grid = (-(-COUNT // BLOCK), 1, 1)
    scale.launch(grid, (BLOCK, 1, 1), (first, second, np.float32(0.5), np.int32(COUNT)))
    np.testing.assert_array_equal(to_host(driver, second, values), values / 2)
    driver.free(first)
    driver.free(second)


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_an_instance_of_a_template_has_dynamic_shared_memory(cuda: Devices, dtype: Any) -> None:
    driver = cuda.driver
    name = {np.float32: "reverse<float>", np.int64: "reverse<long long>"}[dtype]
    values = np.arange(96, dtype=dtype)
    address = to_device(driver, values)
    kernel(driver, name).launch(ONE, (96, 1, 1), (address,), shared_memory=values.nbytes)
    np.testing.assert_array_equal(to_host(driver, address, values), values[::-1])
    driver.free(address)


def test_more_than_48_kilobytes_of_dynamic_shared_memory_may_be_had(cuda: Devices) -> None:
    driver = cuda.driver
    values = np.arange(64, dtype=np.float32)
    address = to_device(driver, values)
    reverse = kernel(driver, "reverse<float>")
    for shared in (100_000, 64_000):
        reverse.launch(ONE, (64, 1, 1), (address,), shared_memory=shared)
    np.testing.assert_array_equal(to_host(driver, address, values), values)
    driver.free(address)


@pytest.mark.parametrize(
    ("grid", "block", "shared"),
    [(ONE, (1025, 1, 1), 0), (ONE, (1, 1, 65), 0), ((1, 65536, 1), ONE, 0), (ONE, (0, 1, 1), 0), (ONE, ONE, 300_000)],
)
def test_a_launch_beyond_the_limits_is_refused_and_the_device_goes_on(
    cuda: Devices, values: Any, grid: Any, block: Any, shared: int
) -> None:
    driver = cuda.driver
    address = to_device(driver, values)
    with pytest.raises(AcceleratorError, match=r"CUDA error: invalid (configuration )?argument") as caught:
        kernel(driver, "scale").launch(grid, block, (address, address, np.float32(1), np.int32(1)), shared)
    assert caught.value.code in (Code.INVALID_CONFIGURATION, Code.INVALID_VALUE)
    np.testing.assert_array_equal(to_host(driver, address, values), values)
    driver.free(address)


@pytest.mark.parametrize(
    "wrong", [(), (0, 0, np.float32(1)), (0, 0, np.float64(1), np.int32(0)), (0, 0, np.float32(1), 0)]
)
def test_arguments_that_do_not_fit_are_refused(cuda: Devices, wrong: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="scale: "):
        kernel(cuda.driver, "scale").launch(ONE, ONE, wrong)


def test_a_kernel_that_is_not_there_is_cudas_error_500(cuda: Devices) -> None:
    with pytest.raises(AcceleratorError, match=r"test_driver\.cu has no kernel 'missing'; it has .*scale") as caught:
        cuda.driver.load(SOURCE, "test_driver.cu").kernel("missing")
    assert caught.value.code == 500


def test_a_source_that_does_not_compile_names_the_line(cuda: Devices) -> None:
    with pytest.raises(RuntimeError, match=r"broken\.cu[:(]2[:)].*error: .*missing"):
        cuda.driver.load('extern "C" __global__ void broken(int* p) {\n    *p = missing;\n}\n', "broken.cu")


def test_a_stream_runs_in_order_and_an_event_orders_two(cuda: Devices, values: Any) -> None:
    driver = cuda.driver
    first, second = driver.stream_create(), driver.stream_create()
    event = driver.event_create(timing=False)
    source, target = to_device(driver, values, first), driver.malloc(values.nbytes)
    arguments = (source, target, np.float32(3), np.int32(COUNT))
    kernel(driver, "scale").launch((4, 1, 1), (BLOCK, 1, 1), arguments, stream=first)
    driver.event_record(event, first)
    driver.stream_wait_event(second, event)
    result = to_host(driver, target, values, second)
    driver.stream_synchronize(second)
    np.testing.assert_array_equal(result, values * 3)
    assert driver.stream_query(second)
    assert driver.event_query(event)
    for stream in (first, second):
        driver.stream_destroy(stream)
    driver.event_destroy(event)
    driver.free(source)
    driver.free(target)


def until(question: Callable[[], bool]) -> None:
    """Ask again until the answer is yes, for at most ten minutes: the machine may be busy."""
    end = time.monotonic() + 600
    while not question():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_work_ends_without_anybody_waiting_for_it(cuda: Devices) -> None:
    driver = cuda.driver
    stream, event = driver.stream_create(), driver.event_create(timing=False)
    address = driver.malloc(1 << 20)
    driver.memset_async(address, 1, 1 << 20, stream)
    driver.event_record(event, stream)
    until(lambda: driver.event_query(event))
    until(lambda: driver.stream_query(stream))
    driver.event_destroy(event)
    driver.stream_destroy(stream)
    driver.free(address)


def test_events_with_timing_tell_the_time_between_them(cuda: Devices) -> None:
    driver = cuda.driver
    start, end = driver.event_create(timing=True), driver.event_create(timing=True)
    address = driver.malloc(1 << 22)
    driver.event_record(start, 0)
    driver.memset_async(address, 0, 1 << 22, 0)
    driver.event_record(end, 0)
    driver.event_synchronize(end)
    assert 0 < driver.event_elapsed(start, end) < 10_000
    for event in (start, end):
        driver.event_destroy(event)
    driver.free(address)


def test_a_device_that_is_not_there_is_refused(cuda: Devices) -> None:
    driver = cuda.driver
    with pytest.raises(AcceleratorError, match="CUDA error: invalid device ordinal"):
        driver.set_device(driver.device_count())
    assert driver.current_device() == 0


def test_properties_hold_what_a_launch_needs(cuda: Devices) -> None:
    properties = cuda.driver.properties(0)
    assert ("simulated" in properties.name) == cuda.driver.simulated
    assert properties.warp_size == 32
    assert properties.max_threads_per_block == 1024
    assert properties.max_block_dim == (1024, 1024, 64)
    assert properties.shared_memory_per_block == 48 * 1024 < properties.shared_memory_per_block_optin
    assert properties.multi_processor_count > 0
    assert properties.total_memory == cuda.driver.memory_info()[1] or not cuda.driver.simulated
