"""Is device memory handed out again to whom it may be, and only when nobody uses it any more?"""

from __future__ import annotations

import gc
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from glasstorch.core.errors import AcceleratorError, OutOfMemoryError
from glasstorch.devices import allocator as allocator_module
from glasstorch.devices import blocks
from glasstorch.devices.allocator import (
    Allocation,
    CachingAllocator,
    DeviceCachingAllocator,
    caching_allocator,
    format_size,
)
from glasstorch.devices.blocks import KIB, MIB
from glasstorch.devices.driver import Copy
from tests.devices.devices import Devices
from tests.devices.fake_driver import FakeDriver

SIDE = 5  # a stream beside the default one


def fresh(devices: int = 1, memory: int = 1 << 30) -> tuple[FakeDriver, DeviceCachingAllocator]:
    """A driver, and the allocator of its device 0."""
    driver: Any = FakeDriver(devices, memory)
    return driver, CachingAllocator(driver).devices[0]


def bytes_of(allocator: DeviceCachingAllocator, *metrics: str) -> list[int]:
    """What some metrics are now."""
    return [allocator.statistics.current(metric) for metric in metrics]


def test_memory_comes_back_when_the_handle_dies_and_is_handed_out_again() -> None:
    driver, allocator = fresh()
    first = allocator.allocate(1000, 0)
    address = first.address
    assert (first.nbytes, first.stream, first.device) == (1000, 0, 0)
    assert bytes_of(allocator, "allocated_bytes", "requested_bytes", "reserved_bytes") == [1024, 1000, 2 * MIB]
    del first
    assert bytes_of(allocator, "allocated_bytes", "requested_bytes", "reserved_bytes") == [0, 0, 2 * MIB]
    assert allocator.allocate(900, 0).address == address
    assert driver.log == ["malloc 2097152 on 0"]


def test_no_bytes_take_no_memory() -> None:
    driver, allocator = fresh()
    empty = allocator.allocate(0, 0)
    assert (empty.address, empty.nbytes, empty.device) == (0, 0, 0)
    empty.record_stream(SIDE)
    del empty
    assert driver.log == []
    assert driver.blocks == {}


def test_small_requests_share_a_segment() -> None:
    driver, allocator = fresh()
    held = [allocator.allocate(700, 0) for _ in range(5)]
    assert [one.address - held[0].address for one in held] == [0, 1024, 2048, 3072, 4096]
    assert driver.log == ["malloc 2097152 on 0"]


def test_small_and_large_requests_never_share_a_segment() -> None:
    driver, allocator = fresh()
    large = allocator.allocate(3 * MIB, 0)
    small = allocator.allocate(512, 0)
    assert driver.log == ["malloc 20971520 on 0", "malloc 2097152 on 0"]
    assert not large.address <= small.address < large.address + 20 * MIB


def test_each_stream_is_served_from_its_own_blocks() -> None:
    _, allocator = fresh()
    before = {stream: allocator.allocate(512, stream).address for stream in (3, 1, 2, 0)}
    held = [allocator.allocate(1024, stream) for stream in (2, 0, 3, 1)]
    held += [allocator.allocate(2048, stream) for stream in (1, 3, 0, 2)]
    assert {one.stream: one.address for one in held[:4]} == before
    assert {one.stream: one.address - 1024 for one in held[4:]} == before


def test_the_hole_that_fits_best_is_filled() -> None:
    _, allocator = fresh()
    sizes = [4096, 512, 1024, 512, 2048, 512]
    held: list[Allocation | None] = [allocator.allocate(size, 0) for size in sizes]
    holes = [held[index].address for index in (0, 2, 4)]  # type: ignore[union-attr]
    for index in (0, 2, 4):
        held[index] = None
    assert allocator.allocate(1536, 0).address == holes[2]


def test_a_small_rest_of_a_large_segment_is_cut_by_the_rule_of_the_large_pool() -> None:
    _, allocator = fresh()
    held = [allocator.allocate(size, 0) for size in (9 * MIB, 9 * MIB, MIB + 512 * KIB)]
    assert [[block.size for block in segment] for segment in allocator.segments()] == [[9 * MIB, 9 * MIB, 2 * MIB]]
    assert bytes_of(allocator, "requested_bytes", "allocated_bytes") == [19 * MIB + 512 * KIB, 20 * MIB]
    assert held


def test_the_driver_is_told_of_each_piece_by_the_bytes_that_were_asked_for() -> None:
    driver, allocator = fresh()
    first, second = allocator.allocate(1000, 0), allocator.allocate(5 * MIB, SIDE)
    assert driver.blocks == {first.address: (1000, 0), second.address: (5 * MIB, SIDE)}
    del first, second
    assert driver.blocks == {}


def test_when_all_is_freed_each_segment_is_one_block() -> None:
    _, allocator = fresh()
    held = [allocator.allocate(size, 0) for size in (512, 700 * KIB, 3 * MIB, 5000, 2 * MIB, 900 * KIB)]
    for order in (held[::2], held[1::2]):
        order.clear()
    held.clear()
    assert [len(segment) for segment in allocator.segments()] == [1, 1]
    assert bytes_of(allocator, "inactive_split", "inactive_split_bytes", "active", "allocation") == [0, 0, 0, 0]


# Streams --------------------------------------------------------------------------------------------------------


def test_memory_of_one_stream_is_not_given_to_another() -> None:
    driver, allocator = fresh()
    address = allocator.allocate(1000, SIDE).address
    other = allocator.allocate(1000, 0)
    assert other.address != address
    assert driver.log == ["malloc 2097152 on 0"] * 2
    assert allocator.allocate(1000, SIDE).address == address


def test_memory_that_another_stream_uses_waits_for_it() -> None:
    driver, allocator = fresh()
    first = allocator.allocate(1000, 0)
    address = first.address
    first.record_stream(SIDE)
    del first
    assert bytes_of(allocator, "allocation", "active", "allocated_bytes", "active_bytes") == [0, 1, 0, 1024]
    assert address in driver.blocks
    assert allocator.allocate(1000, 0).address == address + 1024
    driver.finish(SIDE)
    assert allocator.allocate(1000, 0).address == address
    assert bytes_of(allocator, "active") == [0]
    assert driver.recorded == allocator.waiting == {}


def test_memory_waits_for_each_stream_that_was_said_to_use_it() -> None:
    driver, allocator = fresh()
    first = allocator.allocate(1000, 0)
    address = first.address
    for stream in (SIDE, SIDE + 1, SIDE):
        first.record_stream(stream)
    del first
    assert len(driver.recorded) == 2
    for stream, is_free in ((SIDE + 1, False), (SIDE, True)):
        driver.finish(stream)
        assert (allocator.allocate(1000, 0).address == address) is is_free


def test_memory_does_not_wait_for_its_own_stream() -> None:
    driver, allocator = fresh()
    first = allocator.allocate(1000, 0)
    first.record_stream(0)
    del first
    assert driver.events == 0
    assert bytes_of(allocator, "active") == [0]


def test_waiting_memory_is_not_joined_with_its_neighbours() -> None:
    driver, allocator = fresh()
    held = [allocator.allocate(1024, 0) for _ in range(3)]
    held[1].record_stream(SIDE)
    held.clear()
    assert [[block.size for block in segment] for segment in allocator.segments()] == [[1024, 1024, 2 * MIB - 2048]]
    driver.finish(SIDE)
    allocator.allocate(512, 0)
    assert [len(segment) for segment in allocator.segments()] == [1]


# Running out ----------------------------------------------------------------------------------------------------


def test_a_request_that_does_not_fit_is_tried_again_without_the_cache() -> None:
    driver, allocator = fresh(memory=30 * MIB)
    allocator.allocate(15 * MIB, 0)
    kept = allocator.allocate(512, 0)
    big = allocator.allocate(20 * MIB, 0)
    assert driver.log == [f"malloc {16 * MIB} on 0", f"malloc {2 * MIB} on 0"] + [
        f"free {16 * MIB} on 0",
        f"malloc {20 * MIB} on 0",
    ]
    assert (allocator.statistics.num_alloc_retries, allocator.statistics.num_ooms) == (1, 0)
    assert kept.address
    assert big.address


def test_before_the_second_try_waiting_memory_is_waited_for() -> None:
    driver, allocator = fresh(memory=30 * MIB)
    first = allocator.allocate(15 * MIB, 0)
    first.record_stream(SIDE)
    del first
    assert allocator.allocate(20 * MIB, 0).address
    assert allocator.statistics.num_sync_all_streams == 1
    assert driver.done == {SIDE: 1}
    assert driver.recorded == allocator.waiting == {}


def test_no_memory_is_an_error_that_says_how_much_there_is() -> None:
    driver, allocator = fresh(memory=32 * MIB)
    kept = allocator.allocate(3 * MIB, 0)
    with pytest.raises(OutOfMemoryError) as caught:
        allocator.allocate(17 * MIB + 1, 0)
    assert str(caught.value) == (
        "CUDA out of memory. Tried to allocate 18.00 MiB. GPU 0 has a total capacity of 32.00 MiB of which "
        "12.00 MiB is free. Of the allocated memory 3.00 MiB is allocated by glasstorch, and 17.00 MiB is reserved by "
        "glasstorch but unallocated. glasstorch.cuda.memory_summary() says more."
    )
    assert isinstance(caught.value, RuntimeError)
    assert (allocator.statistics.num_alloc_retries, allocator.statistics.num_ooms) == (1, 1)
    assert kept.address
    assert allocator.allocate(11 * MIB, 0).address
    assert list(driver.held[0].values()) == [20 * MIB]


def test_the_allocator_reserves_no_more_than_it_may() -> None:
    _, allocator = fresh(memory=64 * MIB)
    allocator.set_fraction(0.5)
    kept = allocator.allocate(20 * MIB, 0)
    with pytest.raises(OutOfMemoryError, match=r"44.00 MiB is free. 32.00 MiB allowed; Of the allocated"):
        allocator.allocate(13 * MIB, 0)
    allocator.set_fraction(1.0)
    assert kept.address
    assert allocator.allocate(13 * MIB, 0).address


def test_the_allocator_may_reserve_all_that_it_may() -> None:
    driver, allocator = fresh(memory=64 * MIB)
    allocator.set_fraction(0.5)
    kept = [allocator.allocate(size * MIB, 0) for size in (20, 12)]
    assert sum(driver.held[0].values()) == 32 * MIB
    assert all(one.address for one in kept)
    with pytest.raises(OutOfMemoryError, match=r"32.00 MiB allowed"):
        allocator.allocate(512, 0)


def test_another_error_of_the_driver_is_passed_on() -> None:
    driver, allocator = fresh()
    driver.broken = True
    with pytest.raises(AcceleratorError, match="illegal memory access"):
        allocator.allocate(512, 0)
    assert allocator.statistics.num_ooms == 0
    assert not allocator.at_work


def test_emptying_the_cache_returns_what_nobody_uses() -> None:
    driver, allocator = fresh()
    kept = allocator.allocate(512, 0)
    allocator.allocate(3 * MIB, 0)
    allocator.allocate(512, SIDE)
    allocator.empty_cache()
    assert list(driver.held[0].values()) == [2 * MIB]
    assert bytes_of(allocator, "reserved_bytes", "segment") == [2 * MIB, 1]
    assert (allocator.statistics.num_device_alloc, allocator.statistics.num_device_free) == (3, 2)
    del kept
    allocator.empty_cache()
    assert driver.held == [{}]


# A free at any time ---------------------------------------------------------------------------------------------


class Cycle:
    """Holds memory until Python collects garbage."""

    def __init__(self, memory: Allocation) -> None:
        self.memory = memory
        self.itself = self


def test_a_free_in_the_middle_of_an_allocation_is_done_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _, allocator = fresh()
    lost = Cycle(allocator.allocate(3000, 0))
    place = lost.memory.address
    del lost
    during: list[int] = []
    best_fit = blocks.best_fit

    def interrupted(*arguments: Any) -> object:
        gc.collect()
        during.extend(bytes_of(allocator, "allocation"))
        return best_fit(*arguments)

    monkeypatch.setattr(blocks, "best_fit", interrupted)
    kept = allocator.allocate(512, 0)
    assert during == [1]
    assert kept.address == place + 3072
    assert bytes_of(allocator, "allocation") == [1]
    assert not allocator.returned


def test_a_destructor_that_allocates_in_the_middle_of_an_allocation_gets_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver, allocator = fresh()
    inner: list[Allocation] = []
    best_fit = blocks.best_fit

    def interrupted(*arguments: Any) -> object:
        inner.append(allocator.allocate(100, 0))
        return best_fit(*arguments)

    monkeypatch.setattr(blocks, "best_fit", interrupted)
    kept = allocator.allocate(512, 0)
    assert driver.log == ["malloc 100 on 0", "malloc 2097152 on 0"]
    assert driver.blocks == {inner[0].address: (100, 0), kept.address: (512, 0)}
    inner.clear()
    assert driver.log[2:] == ["free 100 on 0"]


def test_what_is_freed_while_another_thread_is_at_work_is_not_left_behind() -> None:
    _, allocator = fresh()
    held = [allocator.allocate(512, 0) for _ in range(2)]
    allocator.lock.acquire()
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert bytes_of(allocator, "allocation") == [2]
    allocator.lock.release()
    assert allocator.allocate(512, 0).address
    assert bytes_of(allocator, "allocation") == [0]


class LockThatOpensLate:
    """A lock during whose first opening another thread frees memory."""

    def __init__(self, lock: Any, held: list[Allocation]) -> None:
        self.lock, self.held = lock, held

    def __enter__(self) -> None:
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        thread = threading.Thread(target=self.held.clear)
        thread.start()
        thread.join()
        self.lock.release()

    def acquire(self, blocking: bool) -> bool:
        return bool(self.lock.acquire(blocking=blocking))

    def release(self) -> None:
        self.lock.release()


def test_what_is_freed_just_before_the_lock_opens_is_not_left_behind() -> None:
    _, allocator = fresh()
    held = [allocator.allocate(512, 0)]
    allocator.lock = LockThatOpensLate(allocator.lock, held)  # type: ignore[assignment]
    kept = allocator.allocate(512, 0)
    assert kept.address
    assert bytes_of(allocator, "allocation") == [1]


def test_threads_never_get_each_others_memory() -> None:
    driver, allocator = fresh(memory=1 << 34)
    failures: list[str] = []
    owners: dict[int, int] = {}

    def work(mark: int) -> None:
        held: list[tuple[Allocation, int]] = []
        for turn in range(150):
            memory = allocator.allocate(512 * (1 + turn * mark % 7), turn % 2)
            owners[memory.address] = mark
            held.append((memory, mark))
            if len(held) > 5:
                if owners[held[0][0].address] != mark:
                    failures.append(f"memory of thread {mark} was given to {owners[held[0][0].address]}")
                Cycle(held.pop(0)[0])
            if turn % 50 == 0:
                gc.collect()

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    allocator.allocate(512, 0)
    assert not failures
    assert bytes_of(allocator, "allocation", "active", "inactive_split") == [0, 0, 0]
    assert driver.blocks == {}


def test_a_handle_that_dies_on_a_failed_device_raises_nothing() -> None:
    driver, allocator = fresh()
    held = [allocator.allocate(512, 0) for _ in range(2)]
    held[0].record_stream(SIDE)
    driver.broken = True
    held.clear()  # an exception here would be reported as unraisable, which is an error in these tests
    assert bytes_of(allocator, "active") == [0]


def test_what_goes_wrong_in_a_destructor_is_raised_by_the_next_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    _, allocator = fresh()
    held = [allocator.allocate(512, 0)]

    def refuse(*_: object) -> int:
        raise AssertionError("no such block")

    with monkeypatch.context() as patched:
        patched.setattr(blocks, "merge", refuse)
        held.clear()
    with pytest.raises(AssertionError, match="memory that was freed could not be taken back") as caught:
        allocator.allocate(512, 0)
    assert str(caught.value.__cause__) == "no such block"
    assert not allocator.at_work


# A device with memory ------------------------------------------------------------------------------------------


def test_what_is_written_stays_until_the_memory_is_freed(cuda: Devices) -> None:
    driver = cuda.driver
    allocator = CachingAllocator(driver)
    stream = driver.stream_create()
    held: dict[int, Allocation] = {}
    for mark in range(1, 60):
        held[mark] = allocator.allocate(1 + 977 * mark * (mark % 7), 0, stream)
        driver.memset_async(held[mark].address, mark, held[mark].nbytes, stream)
        if mark % 3 == 0:
            del held[mark // 2 + 1 if mark // 2 + 1 in held else mark]
    for mark, memory in held.items():
        found = np.zeros(memory.nbytes, np.uint8)
        driver.memcpy_async(found.ctypes.data, memory.address, memory.nbytes, Copy.DEVICE_TO_HOST, stream)
        driver.stream_synchronize(stream)
        assert set(found.tolist()) == {mark}
    del memory
    held.clear()
    allocator.devices[0].empty_cache()
    driver.stream_destroy(stream)
    assert allocator.devices[0].segments() == []


def test_more_than_the_device_has_is_refused(cuda: Devices) -> None:
    allocator = CachingAllocator(cuda.driver)
    total = cuda.driver.memory_info()[1]
    with pytest.raises(OutOfMemoryError, match=r"^CUDA out of memory. Tried to allocate .* GPU 0 has a total capacity"):
        allocator.allocate(2 * total, 0, 0)
    cuda.driver.synchronize()


# Several devices, several drivers, no cache ---------------------------------------------------------------------


def test_each_device_has_memory_of_its_own() -> None:
    driver: Any = FakeDriver(devices=2)
    allocator = CachingAllocator(driver)
    first = allocator.allocate(1000, 1, 0)
    second = allocator.allocate(1000, 0, 0)
    assert (first.device, second.device) == (1, 0)
    assert driver.log == ["malloc 2097152 on 1", "malloc 2097152 on 0"]
    assert driver.current_device() == 0
    driver.set_device(1)
    allocator.devices[0].empty_cache()
    del second
    allocator.devices[0].empty_cache()
    assert driver.log[2:] == ["free 2097152 on 0"]
    assert driver.current_device() == 1


def test_without_caching_each_request_goes_to_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")
    driver, allocator = fresh(memory=10000)
    first = allocator.allocate(1000, 0)
    first.record_stream(SIDE)
    assert driver.blocks == {first.address: (1000, 0)}
    del first
    assert driver.log == ["malloc 1000 on 0", "free 1000 on 0"]
    assert driver.blocks == {}
    with pytest.raises(OutOfMemoryError, match=r"Tried to allocate 19.53 KiB. GPU 0"):
        allocator.allocate(20000, 0)
    kept = allocator.allocate(1000, 0)
    driver.broken = True
    del kept
    assert driver.blocks == {}


def test_another_driver_has_another_allocator(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers: list[Any] = [FakeDriver(), FakeDriver()]
    on = SimpleNamespace(driver=lambda: drivers[0])
    monkeypatch.setattr(allocator_module, "runtime", on)
    monkeypatch.setattr(allocator_module, "_current", None)
    first = caching_allocator()
    assert caching_allocator() is first
    kept, lost = (allocator_module.allocate(size, 0, 0) for size in (512, 3 * MIB))
    del lost
    on.driver = lambda: drivers[1]
    assert caching_allocator().driver is drivers[1]
    assert list(drivers[0].held[0].values()) == [2 * MIB]
    del kept
    assert drivers[0].blocks == {}


def test_an_allocator_of_a_failed_driver_can_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    drivers: list[Any] = [FakeDriver(), FakeDriver()]
    on = SimpleNamespace(driver=lambda: drivers[0])
    monkeypatch.setattr(allocator_module, "runtime", on)
    monkeypatch.setattr(allocator_module, "_current", None)
    allocator_module.allocate(512, 0, 0)
    drivers[0].broken = True
    on.driver = lambda: drivers[1]
    assert caching_allocator().driver is drivers[1]


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 bytes"),
        (1024, "1024 bytes"),
        (1025, "1.00 KiB"),
        (MIB, "1024.00 KiB"),
        (MIB + 1, "1.00 MiB"),
        (1 << 30, "1024.00 MiB"),
        (5 << 29, "2.50 GiB"),
    ],
)
def test_sizes_are_told_as_c10_tells_them(nbytes: int, text: str) -> None:
    assert format_size(nbytes) == text
