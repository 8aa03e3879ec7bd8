"""Does the simulated device do what a card does, and fail as one does?"""

from __future__ import annotations

import ctypes
import gc
import math
import threading
from typing import Any

import numpy as np
import pytest

from glasstorch.core.errors import AcceleratorError, ArgumentTypeError, ArgumentValueError, DeviceError
from glasstorch.devices import runtime
from glasstorch.devices.driver import Copy
from glasstorch.devices.driver_sim import LoadedKernel, SimDriver
from glasstorch.devices.simulator.stream_queues import RESERVED

SOURCE = """
extern "C" __global__ void scale(float* y, const float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}

extern "C" __global__ void store(float* y, int place) {
  y[place] = 1;
}

extern "C" __global__ void store_two(char* y, int place) {
  *(short*)(y + place) = 1;
}

extern "C" __global__ void arrivals(int* places) {
  __syncthreads();
  places[threadIdx.x] = atomicAdd(places + blockDim.x, 1);
}
"""
ONE = (1, 1, 1)
H2D, D2H, D2D = Copy.HOST_TO_DEVICE, Copy.DEVICE_TO_HOST, Copy.DEVICE_TO_DEVICE


class Device(SimDriver):
    """A driver with the few lines that most tests need."""

    def put(self, array: np.ndarray[Any, Any], stream: int = 0) -> int:
        address = self.malloc(array.nbytes)
        self.memcpy_async(address, array.ctypes.data, array.nbytes, H2D, stream)
        return address

    def get(self, address: int, like: np.ndarray[Any, Any], stream: int = 0) -> np.ndarray[Any, Any]:
        array = np.zeros_like(like)
        self.memcpy_async(array.ctypes.data, address, array.nbytes, D2H, stream)
        return array

    def named(self, name: str) -> LoadedKernel:
        return self.load(SOURCE, "driver.cu").kernel(name)

    def scale(self, y: int, x: int, count: int, stream: int = 0) -> None:
        self.named("scale").launch((2, 1, 1), (256, 1, 1), (y, x, np.float32(2), np.int32(count)), 0, stream)


X = np.arange(300, dtype=np.float32)


@pytest.fixture(params=["forward", "reverse", "random"])
def device(request: pytest.FixtureRequest) -> Device:
    return Device(devices=2, memory=1 << 20, order=request.param)


@pytest.fixture
def simple() -> Device:
    return Device(devices=2, memory=1 << 20)


@pytest.fixture
def broken(simple: Device) -> Device:
    """A device on which a kernel has written where it must not."""
    y = simple.malloc(256)
    simple.named("store").launch(ONE, ONE, (y, np.int32(1 << 20)))
    with pytest.raises(AcceleratorError):
        simple.synchronize()
    return simple


def fails(code: int) -> Any:
    """A block that ends in CUDA's error of a code."""
    return pytest.raises(AcceleratorError, match=rf", {code}\)")


# Memory and copies ----------------------------------------------------------------------------------------------


def test_a_copy_there_and_back_gives_the_same_bytes(device: Device) -> None:
    np.testing.assert_array_equal(device.get(device.put(X), X), X)


def test_fresh_memory_is_nan(simple: Device) -> None:
    assert np.isnan(simple.get(simple.malloc(X.nbytes), X)).all()


def test_memory_is_counted_and_comes_back(simple: Device) -> None:
    assert simple.memory_info() == (1 << 20, 1 << 20)
    address = simple.malloc(1000)
    assert simple.memory_info() == ((1 << 20) - 1024, 1 << 20)
    simple.set_device(1)
    assert simple.memory_info() == (1 << 20, 1 << 20)
    simple.free(address)
    simple.set_device(0)
    assert simple.memory_info() == (1 << 20, 1 << 20)


def test_more_memory_than_there_is_is_refused_and_does_not_stick(simple: Device) -> None:
    simple.malloc(1 << 19)
    with fails(2) as error:
        simple.malloc((1 << 19) + 1)
    assert "malloc of 524289 bytes on cuda:0: 524288 of 1048576 are free" in str(error.value)
    simple.malloc(1 << 19)


def test_no_bytes_have_no_address(simple: Device) -> None:
    assert simple.malloc(0) == 0
    simple.free(0)


@pytest.mark.parametrize("ask", [lambda d: d.malloc(-1), lambda d: d.free(4096), lambda d: d.host_free(4096)])
def test_memory_that_is_not_there_is_refused(simple: Device, ask: Any) -> None:
    with fails(1):
        ask(simple)


def test_memory_cannot_be_freed_twice(simple: Device) -> None:
    address = simple.malloc(8)
    simple.free(address)
    with fails(1):
        simple.free(address)


def test_a_copy_beyond_its_memory_is_refused_before_it_is_queued(simple: Device) -> None:
    address = simple.put(X)
    for target, source, nbytes, kind in (
        (address, X.ctypes.data, X.nbytes + 1, H2D),
        (X.ctypes.data, address + 4, X.nbytes, D2H),
        (address, X.ctypes.data, X.nbytes, D2D),
    ):
        with fails(1) as error:
            simple.memcpy_async(target, source, nbytes, kind, 0)
        assert "do not lie within one allocation" in str(error.value)
    with fails(1):
        simple.memset_async(address, 0, X.nbytes + 1, 0)
    np.testing.assert_array_equal(simple.get(address, X), X)


def test_pageable_memory_has_been_read_when_the_copy_returns(device: Device) -> None:
    source = X.copy()
    address = device.put(source)
    source[:] = -1
    np.testing.assert_array_equal(device.get(address, X), X)


def test_pinned_memory_is_read_when_the_copy_runs(device: Device) -> None:
    pinned = device.host_alloc(X.nbytes)
    source = np.frombuffer((ctypes.c_char * X.nbytes).from_address(pinned), np.float32)
    source[:] = X
    address = device.malloc(X.nbytes)
    device.memcpy_async(address, pinned, X.nbytes, H2D, 0)
    source[:] = -1  # too early, on a card as here
    np.testing.assert_array_equal(device.get(address, X), np.full_like(X, -1))


def test_a_copy_to_pinned_memory_is_there_only_after_synchronising(device: Device) -> None:
    pinned = device.host_alloc(X.nbytes)
    target = np.frombuffer((ctypes.c_char * X.nbytes).from_address(pinned), np.float32)
    device.memcpy_async(pinned, device.put(X), X.nbytes, D2H, 0)
    assert np.isnan(target).all()
    device.synchronize()
    np.testing.assert_array_equal(target, X)


def test_pinned_memory_is_returned_when_nothing_uses_it_any_more(device: Device) -> None:
    pinned = device.host_alloc(X.nbytes)
    ctypes.memmove(pinned, X.ctypes.data, X.nbytes)
    address = device.malloc(X.nbytes)
    device.memcpy_async(address, pinned, X.nbytes, H2D, 0)
    device.host_free(pinned)
    np.testing.assert_array_equal(device.get(address, X), X)


def test_freeing_memory_waits_for_its_device(device: Device) -> None:
    x, y = device.put(X), device.malloc(X.nbytes)
    stream = device.stream_create()
    device.synchronize()
    device.scale(y, x, len(X), stream)
    device.free(x)
    np.testing.assert_array_equal(device.get(y, X, stream), 2 * X)


def test_memory_may_be_copied_between_devices(device: Device) -> None:
    x = device.put(X)
    device.synchronize()
    device.set_device(1)
    y = device.malloc(X.nbytes)
    device.memcpy_async(y, x, X.nbytes, D2D, 0)
    np.testing.assert_array_equal(device.get(y, X), X)


def test_pieces_of_an_allocation_are_filled_with_nan_when_they_are_handed_out(device: Device) -> None:
    segment = device.put(X)
    device.block_allocated(segment, 512, 0)
    values = device.get(segment, X)
    assert np.isnan(values[:128]).all()
    np.testing.assert_array_equal(values[128:], X[128:])


# Kernels --------------------------------------------------------------------------------------------------------


def test_a_kernel_runs_on_what_was_copied_before_it(device: Device) -> None:
    x, y = device.put(X), device.malloc(X.nbytes)
    device.scale(y, x, len(X))
    np.testing.assert_array_equal(device.get(y, X), 2 * X)


def test_arguments_are_read_at_the_launch(device: Device) -> None:
    x, y = device.put(X), device.malloc(X.nbytes)
    factor = np.ones((), np.float32)
    device.named("scale").launch((2, 1, 1), (256, 1, 1), (y, x, factor[()], np.int32(len(X))))
    factor[()] = 5
    np.testing.assert_array_equal(device.get(y, X), X)


@pytest.mark.parametrize(
    ("grid", "block", "shared", "code", "words"),
    [
        (ONE, (1025, 1, 1), 0, 9, "1025 threads"),
        (ONE, (1, 1, 65), 0, 9, "65"),
        ((0, 1, 1), ONE, 0, 9, "grid"),
        ((1, 65536, 1), ONE, 0, 9, "65536"),
        (ONE, ONE, (227 << 10) + 1, 1, "232449 bytes"),
    ],
)
def test_a_launch_beyond_the_limits_is_refused_at_once_and_does_not_stick(
    simple: Device, grid: Any, block: Any, shared: int, code: int, words: str
) -> None:
    y = simple.malloc(256)
    with fails(code) as error:
        simple.named("store").launch(grid, block, (y, np.int32(0)), shared)
    assert "store: " in str(error.value)
    assert words in str(error.value)
    simple.named("store").launch(ONE, ONE, (y, np.int32(0)))
    assert simple.get(y, np.zeros(1, np.float32)) == 1


def test_wrong_arguments_are_refused_at_the_launch(simple: Device) -> None:
    y = simple.malloc(256)
    with pytest.raises(ArgumentTypeError, match=r"store: argument 1 is float64, the parameter is int32"):
        simple.named("store").launch(ONE, ONE, (y, np.float64(0)))
    with pytest.raises(ArgumentTypeError, match=r"store: 1 arguments were given, the kernel has 2"):
        simple.named("store").launch(ONE, ONE, (y,))


def test_a_kernel_that_is_not_in_the_module_is_refused(simple: Device) -> None:
    with fails(500) as error:
        simple.named("scales")
    assert "driver.cu has no kernel 'scales'; it has scale, store, store_two, arrivals" in str(error.value)


def test_a_launch_on_a_stream_of_another_device_is_refused(simple: Device) -> None:
    stream = simple.stream_create()
    x = simple.put(X)
    simple.set_device(1)
    with fails(400) as error:
        simple.scale(x, x, len(X), stream)
    assert f"stream {stream - RESERVED} of cuda:0 does not belong to the current device, cuda:1" in str(error.value)


def test_an_address_in_no_memory_of_the_devices_is_refused_at_the_launch(simple: Device) -> None:
    y, other = simple.malloc(X.nbytes), Device().malloc(X.nbytes)
    for address in (other, X.ctypes.data, y + X.nbytes + 1):
        with fails(400) as error:
            simple.scale(y, address, 0)
        assert f"kernel scale, argument 1: {address:#x} lies outside the memory of these devices" in str(error.value)
    for address in (0, y, y + 4, y + X.nbytes, simple.host_alloc(4)):
        simple.scale(y, address, 0)
    simple.synchronize()


def test_the_random_order_of_threads_differs_between_launches_and_the_seed_decides_it() -> None:
    def orders(seed: int) -> list[list[int]]:
        device = Device(order="random", seed=seed)
        kernel = device.named("arrivals")
        found = []
        for _ in range(2):
            places = np.full(65, -1, np.int32)
            places[64] = 0
            address = device.put(places)
            kernel.launch(ONE, (64, 1, 1), (address,))
            found.append(device.get(address, places).tolist())
        return found

    first, second = orders(3)
    assert sorted(first[:64]) == sorted(second[:64]) == list(range(64))
    assert first != second
    assert orders(3) == [first, second]
    assert orders(4) != [first, second]


def test_a_kernel_of_devices_that_were_switched_off_is_refused() -> None:
    old = Device()
    runtime.use_driver(old)
    y, kernel = old.malloc(256), old.named("store")
    runtime.use_driver(Device())
    with fails(400) as error:
        kernel.launch(ONE, ONE, (y, np.int32(0)))
    assert "kernel store was compiled for devices that no longer exist" in str(error.value)
    runtime.use_driver(old)
    kernel.launch(ONE, ONE, (y, np.int32(0)))
    runtime.use_driver(None)


# Failing --------------------------------------------------------------------------------------------------------


def test_an_illegal_access_shows_at_a_later_call_with_kernel_and_both_lines(simple: Device) -> None:
    y = simple.malloc(256)
    simple.named("store").launch(ONE, ONE, (y, np.int32(1 << 20)))  # the launch
    with fails(700) as error:
        simple.synchronize()
    message = str(error.value)
    assert message.startswith("CUDA error: an illegal memory access was encountered (cudaErrorIllegalAddress, 700)\n")
    assert "store: driver.cu:8: " in message
    assert "thread (0, 0, 0), block (0, 0, 0)" in message
    assert "test_driver_sim.py" in message
    assert "# the launch" in message


CALLS: dict[str, Any] = {
    "malloc": lambda d: d.malloc(8),
    "memcpy": lambda d: d.put(X),
    "synchronize": lambda d: d.synchronize(),
    "stream_create": lambda d: d.stream_create(),
    "stream_synchronize": lambda d: d.stream_synchronize(0),
    "stream_query": lambda d: d.stream_query(0),
    "event_create": lambda d: d.event_create(timing=False),
    "launch": lambda d: d.scale(0, 0, 0),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_after_a_failure_every_call_answers_with_it(broken: Device, call: Any) -> None:
    for _ in range(2):
        with fails(700) as error:
            call(broken)
        assert "use_simulator() creates new devices" in str(error.value)


def test_other_devices_and_new_ones_go_on_after_a_failure(broken: Device) -> None:
    broken.set_device(1)
    np.testing.assert_array_equal(broken.get(broken.put(X), X), X)
    fresh = Device()
    np.testing.assert_array_equal(fresh.get(fresh.put(X), X), X)


def test_freeing_never_raises_what_the_device_died_of(broken: Device) -> None:
    for leak in broken.leaks():
        broken.free(leak.address)
    assert broken.leaks() == []


def test_what_was_queued_when_a_kernel_failed_never_runs(simple: Device) -> None:
    y, pinned, other = simple.put(X), [simple.host_alloc(4) for _ in range(2)], simple.stream_create()
    simple.synchronize()
    simple.named("store").launch(ONE, ONE, (simple.malloc(256), np.int32(1 << 20)))
    for stream, address in zip((0, other), pinned, strict=True):
        simple.memcpy_async(address, y, 4, D2H, stream)
    with fails(700):
        simple.stream_synchronize(0)
    simple.free(y)
    assert all(math.isnan(ctypes.c_float.from_address(address).value) for address in pinned)


def test_launch_blocking_reports_at_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    device = Device()
    y = device.malloc(256)
    with fails(700):
        device.named("store").launch(ONE, ONE, (y, np.int32(1 << 20)))


def test_check_mode_finds_what_stays_inside_the_pages() -> None:
    device = Device(check=True)
    y = device.malloc(1000)
    device.named("store").launch(ONE, ONE, (y, np.int32(250)))
    with fails(700) as error:
        device.synchronize()
    assert "store: driver.cu:8: " in str(error.value)


def test_check_mode_knows_the_pieces_of_an_allocation_as_they_were_at_the_launch() -> None:
    device = Device(check=True)
    segment = device.malloc(4096)
    for piece in (0, 1):
        device.block_allocated(segment + 512 * piece, 512, 0)
    device.named("store").launch(ONE, ONE, (segment + 512, np.int32(5)))
    device.block_freed(segment + 512)  # after the launch, in the order of its stream
    device.synchronize()
    device.named("store").launch(ONE, ONE, (segment, np.int32(128)))
    with fails(700):
        device.synchronize()


def test_check_mode_finds_a_read_of_what_nobody_wrote_and_copies_count_as_writes() -> None:
    device = Device(check=True)
    x, y, z = device.put(X), device.malloc(X.nbytes), device.malloc(X.nbytes)
    device.scale(y, x, len(X))
    device.memcpy_async(z, y, X.nbytes, D2D, 0)
    device.scale(y, z, len(X))
    device.memset_async(z, 0, X.nbytes, 0)
    device.scale(y, z, len(X))
    device.synchronize()
    device.memcpy_async(z, device.malloc(X.nbytes), X.nbytes, D2D, 0)
    device.scale(y, z, len(X))
    with pytest.raises(AcceleratorError, match=r"scale: driver.cu:4: read of global memory that has not been written"):
        device.synchronize()


def test_a_misaligned_access_has_its_own_code() -> None:
    device = Device(check=True)
    device.named("store_two").launch(ONE, ONE, (device.malloc(64), np.int32(1)))
    with fails(716):
        device.synchronize()


def test_check_mode_may_be_switched_on_between_launches(simple: Device) -> None:
    y = simple.malloc(1000)
    kernel = simple.named("store")
    kernel.launch(ONE, ONE, (y, np.int32(250)))
    simple.synchronize()
    simple.check = True
    kernel.launch(ONE, ONE, (y, np.int32(250)))
    with fails(700):
        simple.synchronize()


def test_check_mode_takes_what_was_written_without_it_for_written() -> None:
    device = Device(check=True)
    x, y, z = device.put(X), device.malloc(X.nbytes), device.malloc(X.nbytes)
    device.synchronize()
    device.check = False
    device.scale(y, x, len(X))
    device.synchronize()
    device.check = True
    device.scale(z, y, len(X))
    np.testing.assert_array_equal(device.get(z, X), 4 * X)
    device.scale(z, device.malloc(X.nbytes), len(X))
    with fails(719):
        device.synchronize()


# Streams and events ---------------------------------------------------------------------------------------------


def test_a_stream_is_done_after_enough_questions(device: Device) -> None:
    stream = device.stream_create()
    x, y = device.put(X), device.malloc(X.nbytes)
    device.synchronize()
    for _ in range(3):
        device.scale(y, x, len(X), stream)
    questions = 0
    while not device.stream_query(stream):
        questions += 1
    assert questions in (2, 3)


def test_an_event_stands_for_its_last_recording_and_for_nothing_before_the_first(device: Device) -> None:
    event = device.event_create(timing=False)
    assert device.event_query(event)
    device.stream_wait_event(0, event)
    device.event_synchronize(event)
    device.put(X)
    device.event_record(event, 0)
    assert not device.event_query(event) or device.event_query(event)
    device.event_synchronize(event)
    assert device.event_query(event)


def test_waiting_takes_the_recording_that_is_there(device: Device) -> None:
    """A wait that was queued is not moved by a later recording of the same event."""
    first, second = device.stream_create(), device.stream_create()
    event = device.event_create(timing=False)
    x, y = device.put(X), device.malloc(X.nbytes)
    device.synchronize()
    device.scale(y, x, len(X), first)
    device.event_record(event, first)
    device.stream_wait_event(second, event)
    device.event_record(event, second)
    np.testing.assert_array_equal(device.get(y, X, second), 2 * X)


def test_time_between_events_is_that_of_the_work_between_them(simple: Device) -> None:
    start, end = simple.event_create(timing=True), simple.event_create(timing=True)
    x, y = simple.put(X), simple.malloc(X.nbytes)
    simple.event_record(start, 0)
    for _ in range(20):
        simple.scale(y, x, len(X))
    simple.event_record(end, 0)
    with fails(600):
        simple.event_elapsed(start, end)
    simple.synchronize()
    assert 0 < simple.event_elapsed(start, end) < 10_000
    assert simple.event_elapsed(start, end) == -simple.event_elapsed(end, start)


def test_time_needs_events_with_timing_that_were_recorded(simple: Device) -> None:
    timed, untimed = simple.event_create(timing=True), simple.event_create(timing=False)
    simple.event_record(untimed, 0)
    for pair in ((timed, timed), (untimed, untimed)):
        with fails(400):
            simple.event_elapsed(*pair)


HANDLES: dict[str, Any] = {
    "a stream": lambda d: d.stream_synchronize(99),
    "an event": lambda d: d.event_synchronize(99),
    "a destroyed event": lambda d: d.event_query((e := d.event_create(timing=False), d.event_destroy(e))[0]),
    "a destroyed stream": lambda d: d.stream_query((s := d.stream_create(), d.stream_destroy(s))[0]),
    "the default stream, to destroy": lambda d: d.stream_destroy(0),
}


@pytest.mark.parametrize("use", HANDLES.values(), ids=HANDLES)
def test_a_handle_that_is_not_there_is_refused(simple: Device, use: Any) -> None:
    with fails(400):
        use(simple)


def test_an_event_is_recorded_on_its_device_and_may_be_waited_for_on_any(simple: Device) -> None:
    event = simple.event_create(timing=False)
    simple.event_record(event, 0)
    simple.set_device(1)
    simple.stream_wait_event(0, event)
    with fails(400) as error:
        simple.event_record(event, 0)
    assert f"event {event} is of cuda:0, stream 0 of cuda:1" in str(error.value)


def test_destroying_a_stream_runs_its_work(device: Device) -> None:
    stream = device.stream_create()
    x, y = device.put(X), device.malloc(X.nbytes)
    device.synchronize()
    device.scale(y, x, len(X), stream)
    device.stream_destroy(stream)
    np.testing.assert_array_equal(device.get(y, X), 2 * X)


# Devices and threads --------------------------------------------------------------------------------------------


def test_each_thread_has_its_own_current_device(simple: Device) -> None:
    simple.set_device(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(simple.current_device()))
    thread.start()
    thread.join()
    assert (seen, simple.current_device()) == ([0], 1)


def test_a_device_that_is_not_there_is_refused(simple: Device) -> None:
    with fails(101):
        simple.set_device(2)


def test_threads_may_launch_at_the_same_time(device: Device) -> None:
    x = device.put(X)
    device.synchronize()
    results: list[np.ndarray[Any, Any]] = []

    def run() -> None:
        stream = device.stream_create()
        y = device.malloc(X.nbytes)
        for _ in range(20):
            device.scale(y, x, len(X), stream)
        results.append(device.get(y, X, stream))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, 2 * X)


def test_memory_freed_by_a_collection_inside_a_call_is_returned_later(simple: Device) -> None:
    class Holder:
        def __init__(self) -> None:
            self.address = simple.malloc(512)
            self.itself = self

        def __del__(self) -> None:
            simple.free(self.address)

    gc.disable()
    try:
        for _ in range(5):
            Holder()
        x, y = simple.put(X), simple.malloc(X.nbytes)
        queue, waiting = simple._defaults[0], []
        simple._scheduler.add(queue, lambda: waiting.append((gc.collect(), len(queue.work))[1]))
        simple.scale(y, x, len(X))
        np.testing.assert_array_equal(simple.get(y, X), 2 * X)
    finally:
        gc.enable()
    assert waiting == [2]  # the kernel and the copy: nothing ran inside the collection
    assert len(simple.leaks()) == 2


def test_properties_say_that_the_device_is_simulated(simple: Device) -> None:
    properties = simple.properties(0)
    assert "simulated" in properties.name
    assert properties.total_memory == 1 << 20


def test_there_is_no_blas(simple: Device) -> None:
    assert not simple.has_blas()
    with pytest.raises(DeviceError, match="no cuBLAS"):
        simple.gemm(stream=0)


@pytest.mark.parametrize("options", [{"devices": 0}, {"memory": 0}, {"order": "sideways"}])
def test_impossible_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ArgumentValueError, match=next(iter(options))):
        SimDriver(**options)


@pytest.mark.parametrize("options", [{"devices": "2"}, {"memory": 1.5}, {"seed": "x"}])
def test_an_option_that_is_no_int_is_refused(options: dict[str, Any]) -> None:
    ((name, value),) = options.items()
    with pytest.raises(ArgumentTypeError, match=f"use_simulator: {name}={value!r}; expected an int"):
        SimDriver(**options)


def test_a_seed_that_is_no_int_is_refused_where_it_is_set(simple: Device) -> None:
    with pytest.raises(ArgumentTypeError, match="seed='x'; expected an int"):
        simple.seed = "x"  # type: ignore[assignment]
    simple.seed = 5
    assert simple.seed == 5


# Counting -------------------------------------------------------------------------------------------------------


def test_counting_says_what_each_launch_inside_loads_and_stores(simple: Device) -> None:
    x, y = simple.put(X), simple.malloc(X.nbytes)
    simple.scale(y, x, len(X))
    with simple.counting() as counts:
        simple.scale(y, x, len(X))
        simple.scale(y, x, 10)
    assert [name for name, _ in counts] == ["scale", "scale"]
    assert [(c.global_loads, c.global_loaded, c.global_stores) for _, c in counts] == [(300, 1200, 300), (10, 40, 10)]
    np.testing.assert_array_equal(simple.get(y, X), 2 * X)
    assert len(counts) == 2
