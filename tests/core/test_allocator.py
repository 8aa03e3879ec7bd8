"""Is memory reused only when the last array over it is gone?"""

from __future__ import annotations

import gc
import re
import threading
from typing import Any

import numpy as np
import pytest

from glasstorch.core import allocator as allocator_module
from glasstorch.core.allocator import ALIGNMENT, LARGE, ROUND_TO, CachingCPUAllocator, cpu_allocator, empty_array
from glasstorch.core.errors import HostMemoryError

BIG = 4 * LARGE


def test_a_large_block_is_used_again_once_nobody_holds_it() -> None:
    pool = CachingCPUAllocator()
    first = pool.allocate(BIG)
    address = first.ctypes.data
    assert (pool.bytes_in_use, pool.bytes_cached) == (BIG, 0)
    del first
    assert (pool.bytes_in_use, pool.bytes_cached) == (0, BIG)
    assert pool.allocate(BIG - ROUND_TO + 1).ctypes.data == address
    assert pool.bytes_cached == BIG  # the temporary above died at once


def test_a_view_keeps_its_block_from_being_used_again() -> None:
    pool = CachingCPUAllocator()
    array = pool.allocate(BIG).view(np.float64)
    array[:] = 1.0
    part = array[10:20].reshape(2, 5)
    del array
    assert pool.bytes_cached == 0
    other = pool.allocate(BIG).view(np.float64)
    other[:] = 2.0
    assert part.tolist() == [[1.0] * 5] * 2
    del part
    assert pool.bytes_cached == BIG


def test_small_requests_do_not_go_through_the_pool() -> None:
    pool = CachingCPUAllocator()
    small = pool.allocate(LARGE - 1)
    assert small.nbytes == LARGE - 1
    assert pool.bytes_in_use == 0
    assert pool.allocate(0).nbytes == 0


def test_the_caller_gets_exactly_the_bytes_asked_for() -> None:
    buffer = CachingCPUAllocator().allocate(LARGE + 1)
    assert (buffer.shape, buffer.dtype) == ((LARGE + 1,), np.uint8)
    buffer[-1] = 7


def test_what_lay_unused_longest_makes_room() -> None:
    pool = CachingCPUAllocator(keep=2 * BIG)
    sizes = [BIG, BIG + ROUND_TO, BIG]
    blocks = [pool.allocate(size) for size in sizes]
    blocks.clear()  # gives back in order: BIG, BIG + ROUND_TO, BIG
    assert pool.bytes_cached == BIG
    assert list(pool.free) == [BIG]
    huge = pool.allocate(3 * BIG)
    del huge
    assert list(pool.free) == [BIG]  # more than may be kept at all: let go, and nothing else with it


def test_emptying_the_cache_lets_unused_memory_go_and_no_other() -> None:
    pool = CachingCPUAllocator()
    held, unused = pool.allocate(BIG), pool.allocate(BIG)
    held[:] = 5
    del unused
    pool.empty_cache()
    assert (pool.bytes_in_use, pool.bytes_cached) == (BIG, 0)
    assert held.min() == held.max() == 5


def test_running_out_of_memory_empties_the_cache_and_then_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = CachingCPUAllocator()
    cached = pool.allocate(BIG)
    del cached
    asked: list[int] = []

    def empty(size: int, dtype: object) -> np.ndarray:
        asked.append(size)
        raise MemoryError

    monkeypatch.setattr(allocator_module.np, "empty", empty)
    with pytest.raises(MemoryError, match=f"can't allocate memory: you tried to allocate {2 * BIG} bytes .0 bytes are"):
        pool.allocate(2 * BIG)
    assert asked == [2 * BIG + ALIGNMENT, 2 * BIG]
    assert (pool.bytes_in_use, pool.bytes_cached) == (0, 0)


def test_an_array_has_the_shape_and_dtype_asked_for() -> None:
    for shape in ((3,), (LARGE // 4, 2)):
        nbytes = int(np.prod(shape)) * 4
        array = empty_array(shape, np.dtype(np.float32), nbytes)
        assert (array.shape, array.dtype, array.flags.c_contiguous) == (shape, np.float32, True)


def test_threads_never_get_each_others_memory() -> None:
    failures: list[str] = []

    def work(mark: int) -> None:
        held: list[np.ndarray] = []
        for turn in range(60):
            array = cpu_allocator.allocate(BIG + ROUND_TO * (turn % 3))
            array[::4096] = mark
            held.append(array[::4096])  # a view outlives the array
            if len(held) > 4:
                old = held.pop(0)
                if not (old == mark).all():
                    failures.append(f"thread {mark} found {set(old.tolist())}")
            if turn % 7 == 0:
                gc.collect(0)

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_large_block_is_aligned_for_vector_loads() -> None:
    allocator = CachingCPUAllocator()
    blocks = [allocator.allocate(LARGE + 1000 * i) for i in range(5)]
    assert [block.ctypes.data % ALIGNMENT for block in blocks] == [0] * 5
    assert [block.nbytes for block in blocks] == [LARGE + 1000 * i for i in range(5)]


def test_the_block_itself_gives_arrays_that_give_nothing_back() -> None:
    pool = CachingCPUAllocator()
    array = pool.allocate(BIG)
    assert array.base is not None
    part, made, copied = array.base[3:], array.base + 1, array.base.copy()
    del array, made, copied
    gc.collect(0)
    assert (pool.bytes_in_use, pool.bytes_cached) == (BIG, 0)
    del part
    assert (pool.bytes_in_use, pool.bytes_cached) == (0, BIG)


def test_what_there_is_no_room_for_is_refused_and_not_counted() -> None:
    pool = CachingCPUAllocator()
    for nbytes in (2**50, 2**62, 2**70):
        with pytest.raises(HostMemoryError, match=f"can't allocate memory: you tried to allocate {nbytes} bytes"):
            pool.allocate(nbytes)
    assert pool.bytes_in_use == 0


@pytest.mark.parametrize("sizes", [(2**62, 4), (2**40, 2**40), (2**62,), (2**62, 4, 0)])
def test_sizes_whose_bytes_no_integer_counts_are_refused(torch: Any, sizes: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError, match=re.escape(f"Storage size calculation overflowed with sizes={list(sizes)}")):
        torch.empty(sizes)
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        torch.empty(2**50)


def test_one_block_may_displace_several() -> None:
    pool = CachingCPUAllocator(keep=4 * BIG)
    small = [pool.allocate(BIG) for _ in range(4)]
    large = pool.allocate(3 * BIG)
    del small
    assert pool.bytes_cached == 4 * BIG
    del large
    assert pool.bytes_cached == 4 * BIG
    assert sorted(pool.free) == [BIG, 3 * BIG]


class Labelled(np.ndarray):
    """An array type of a user's."""


DERIVED = {
    "a slice": lambda array: array[5:9],
    "another shape": lambda array: array.reshape(2, -1),
    "another dtype": lambda array: array.view(np.float64),
    "another type": lambda array: array.view(Labelled),
    "a slice of another type": lambda array: array.view(Labelled)[3:4],
    "back from another type": lambda array: np.asarray(array.view(Labelled)),
    "a memoryview": memoryview,
    "an array over a memoryview": lambda array: np.asarray(memoryview(array)[7:]),
    "an array over its buffer": lambda array: np.frombuffer(array, np.int32),
    "an array made by hand": lambda array: np.ndarray((4,), np.uint8, array),
    "strides made by hand": lambda array: np.lib.stride_tricks.as_strided(array, (3, 3), (1, 1)),
    "what DLPack carries": np.from_dlpack,
    "an iterator": iter,
}


@pytest.mark.parametrize("name", DERIVED)
def test_whatever_is_made_of_an_array_keeps_its_block(name: str) -> None:
    pool = CachingCPUAllocator()
    derived = DERIVED[name](pool.allocate(BIG))
    gc.collect(0)
    assert (pool.bytes_in_use, pool.bytes_cached) == (BIG, 0)
    del derived
    assert (pool.bytes_in_use, pool.bytes_cached) == (0, BIG)
