"""Are accesses that nothing orders found, in every run, with the lines that made them?

The lines are looked for by what stands on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import glasstorch as torch
from glasstorch.core.errors import UnsynchronizedAccessError
from glasstorch.devices import runtime
from glasstorch.devices.driver import Copy
from glasstorch.devices.driver_sim import LoadedKernel, SimDriver

SCALE = """
extern "C" __global__ void scale(float* y, const float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}
"""
COUNT = 300


@pytest.fixture(params=["forward", "reverse", "random"])
def driver(request: pytest.FixtureRequest) -> Iterator[SimDriver]:
    """Fresh devices in an order in which a fault may do harm or not."""
    yield torch.cuda.use_simulator(devices=2, order=request.param)
    runtime.use_driver(None)


class Program:
    """What a program does with tensors and a kernel."""

    def __init__(self, driver: SimDriver) -> None:
        self.kernel: LoadedKernel = driver.load(SCALE, "scale.cu").kernel("scale")

    def scale(self, y: torch.Tensor, x: torch.Tensor) -> None:
        """Launch on the current stream."""
        arguments = y.data_ptr(), x.data_ptr(), np.float32(2), np.int32(x.numel())
        self.kernel.launch((2, 1, 1), (256, 1, 1), arguments, 0, runtime.current_stream())


def lines(error: pytest.ExceptionInfo[UnsynchronizedAccessError]) -> list[str]:
    """The source lines that a message shows."""
    return re.findall(r"test_stream_order\.py:\d+: (.*)", str(error.value))


def test_a_missing_wait_event_is_reported_with_both_lines(driver: SimDriver) -> None:
    x = torch.ones(COUNT, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x.fill_(3)  # the write
    with pytest.raises(UnsynchronizedAccessError, match="use the same memory, and no event says") as error:
        x.clone()  # the read
    assert lines(error) == [
        "x.fill_(3)  # the write",
        "x.clone()  # the read",
        'x = torch.ones(COUNT, device="cuda")',
    ]
    assert "write on stream 1 of cuda:0" in str(error.value)
    assert "read on the default stream of cuda:0" in str(error.value)
    torch.cuda.current_stream().wait_stream(side)
    assert x.clone().tolist() == [3.0] * COUNT


def test_a_use_after_free_across_streams_is_reported_with_the_lines_of_use_free_and_use(driver: SimDriver) -> None:
    x = torch.ones(COUNT, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x.clone()  # the side stream reads x
    del x  # its memory goes back to the default stream
    with pytest.raises(UnsynchronizedAccessError, match="memory was freed and is used again") as error:
        torch.empty(COUNT, device="cuda").fill_(7)  # and is overwritten
    assert lines(error) == [
        "x.clone()  # the side stream reads x",
        "del x  # its memory goes back to the default stream",
        'torch.empty(COUNT, device="cuda").fill_(7)  # and is overwritten',
    ]
    assert "record_stream" in str(error.value)


def test_a_leaked_block_is_listed_with_the_line_that_allocated_it(driver: SimDriver) -> None:
    kept = []
    for number in range(3):
        x = torch.full((COUNT,), float(number), device="cuda")
        if number == 1:
            kept.append(x)
    del x
    assert [(leak.nbytes, leak.device) for leak in driver.leaks()] == [(4 * COUNT, 0)]
    assert str(driver.leaks()[0]).endswith('x = torch.full((COUNT,), float(number), device="cuda")')
    kept.clear()
    assert driver.leaks() == []


def test_record_stream_makes_freeing_early_right(driver: SimDriver) -> None:
    x = torch.ones(COUNT, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x.clone()
        x.record_stream(side)
    del x
    z = torch.full((COUNT,), 7.0, device="cuda")
    side.synchronize()
    assert (y.tolist(), z.tolist()) == ([1.0] * COUNT, [7.0] * COUNT)


def test_two_streams_may_read_the_same_memory(driver: SimDriver) -> None:
    x = torch.ones(COUNT, device="cuda")
    torch.cuda.synchronize()
    copies = []
    for _ in range(2):
        with torch.cuda.stream(torch.cuda.Stream()):
            copies.append(x.clone())
    torch.cuda.synchronize()
    assert [copy.tolist() for copy in copies] == [[1.0] * COUNT] * 2


def test_a_write_after_a_read_on_another_stream_is_reported_too(driver: SimDriver) -> None:
    x = torch.ones(COUNT, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        y = x.clone()  # the read
    with pytest.raises(UnsynchronizedAccessError) as error:
        x.zero_()  # the write
    assert lines(error)[:2] == ["y = x.clone()  # the read", "x.zero_()  # the write"]
    assert y.numel() == COUNT


def test_memory_that_another_stream_handed_out_must_be_waited_for(driver: SimDriver) -> None:
    x = torch.empty(COUNT, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()), pytest.raises(UnsynchronizedAccessError, match="handed out"):
        x.fill_(1)


@pytest.mark.parametrize("how", ["event", "stream", "synchronize", "query", "event query", "device"])
def test_each_way_of_waiting_orders_the_accesses(driver: SimDriver, how: str) -> None:
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x = torch.full((COUNT,), 5.0, device="cuda")
        event = side.record_event()
    match how:
        case "event":
            torch.cuda.current_stream().wait_event(event)
        case "stream":
            torch.cuda.current_stream().wait_stream(side)
        case "synchronize":
            event.synchronize()
        case "query":
            while not side.query():
                pass
        case "event query":
            while not event.query():
                pass
        case "device":
            torch.cuda.synchronize()
    assert (x + 1).tolist() == [6.0] * COUNT


def test_waiting_reaches_through_a_third_stream(driver: SimDriver) -> None:
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(first):
        x = torch.full((COUNT,), 5.0, device="cuda")
    second.wait_stream(first)
    torch.cuda.current_stream().wait_stream(second)
    assert (x + 1).tolist() == [6.0] * COUNT


def test_an_event_orders_only_what_was_queued_before_it(driver: SimDriver) -> None:
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x = torch.full((COUNT,), 5.0, device="cuda")
        event = side.record_event()
        x.fill_(6)  # after the event
    torch.cuda.current_stream().wait_event(event)
    with pytest.raises(UnsynchronizedAccessError) as error:
        x.clone()
    assert lines(error)[0] == "x.fill_(6)  # after the event"


def test_a_refused_launch_is_neither_run_nor_remembered(driver: SimDriver) -> None:
    program = Program(driver)
    x, y = torch.ones(COUNT, device="cuda"), torch.zeros(COUNT, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    program.scale(y, y)
    with torch.cuda.stream(side), pytest.raises(UnsynchronizedAccessError):
        program.scale(x, y)  # writes x, and reads y too early
    program.scale(y, x)  # would not be ordered after the refused write of x
    assert y.tolist() == [2.0] * COUNT


def test_an_event_recorded_again_orders_what_came_between(driver: SimDriver) -> None:
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x = torch.full((COUNT,), 5.0, device="cuda")
        event = side.record_event()
        x.fill_(6)
        event.record()
    torch.cuda.current_stream().wait_event(event)
    assert x.clone().tolist() == [6.0] * COUNT


def test_waiting_after_memory_was_handed_out_again_is_early_enough(driver: SimDriver) -> None:
    x = torch.ones(COUNT, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        x.clone()
    del x
    y = torch.empty(COUNT, device="cuda")
    torch.cuda.current_stream().wait_stream(side)
    assert y.fill_(7).tolist() == [7.0] * COUNT


def test_an_address_behind_a_piece_is_not_taken_for_it(driver: SimDriver) -> None:
    segment = driver.malloc(4096)
    side = driver.stream_create()
    driver.block_allocated(segment, 512, 0)
    driver.memset_async(segment, 0, 512, 0)
    driver.memset_async(segment + 1024, 0, 512, side)
    with pytest.raises(UnsynchronizedAccessError):
        driver.memset_async(segment + 256, 0, 256, side)


@pytest.mark.parametrize(("start", "nbytes"), [(512, 512), (1024, 512), (0, 1024), (1024, 2048), (0, 4096)])
def test_a_use_after_free_is_found_where_the_new_piece_only_overlaps_the_old_one(
    driver: SimDriver, start: int, nbytes: int
) -> None:
    segment, pinned = driver.malloc(4096), driver.host_alloc(1024)
    side = driver.stream_create()
    driver.block_allocated(segment + 512, 1024, 0)
    driver.stream_synchronize(0)
    driver.memcpy_async(pinned, segment + 512, 1024, Copy.DEVICE_TO_HOST, side)
    driver.block_freed(segment + 512)
    driver.block_allocated(segment + start, nbytes, 0)
    with pytest.raises(UnsynchronizedAccessError, match="memory was freed and is used again"):
        driver.memset_async(segment + start, 0, nbytes, 0)


@pytest.mark.parametrize("start", [0, 1536])
def test_a_piece_beside_one_that_was_freed_is_free_to_use(driver: SimDriver, start: int) -> None:
    segment, pinned = driver.malloc(4096), driver.host_alloc(1024)
    side = driver.stream_create()
    driver.block_allocated(segment + 512, 1024, 0)
    driver.stream_synchronize(0)
    driver.memcpy_async(pinned, segment + 512, 1024, Copy.DEVICE_TO_HOST, side)
    driver.block_freed(segment + 512)
    driver.block_allocated(segment + start, 512, 0)
    driver.memset_async(segment + start, 0, 512, 0)
    driver.synchronize()


def test_a_view_is_known_by_the_memory_it_lies_in(driver: SimDriver) -> None:
    x = torch.ones(COUNT, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        x[100:].fill_(2)
    with pytest.raises(UnsynchronizedAccessError):
        x[200:].clone()


def test_without_the_check_a_missing_wait_gives_wrong_values_in_some_order() -> None:
    results = []
    for order in ("forward", "reverse"):
        torch.cuda.use_simulator(order=order, check_streams=False)
        x = torch.zeros(COUNT, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()):
            x.fill_(1)
        results.append(x.sum().item())
        torch.cuda.synchronize()
        runtime.use_driver(None)
    assert results == [0.0, COUNT]


def test_streams_of_two_devices_are_told_apart(driver: SimDriver) -> None:
    x = torch.ones(COUNT, device="cuda:0")
    y = x.to("cuda:1")
    assert (x + 1).tolist() == [2.0] * COUNT
    assert (y + 2).tolist() == [3.0] * COUNT
