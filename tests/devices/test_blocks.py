"""Are free blocks chosen, cut and joined as PyTorch's allocator does it?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from glasstorch.devices import blocks
from glasstorch.devices.blocks import (
    KIB,
    MIB,
    Block,
    Pool,
    best_fit,
    merge,
    round_size,
    segment_size,
    should_split,
    split,
)


def pool_of(*pieces: tuple[int, int, int], name: str = "large_pool") -> Pool:
    """A pool of free blocks, each told by stream, size and address."""
    pool = Pool(name)
    for stream, size, address in pieces:
        pool.insert(Block(address, size, stream, pool))
    return pool


@pytest.mark.parametrize(
    ("nbytes", "size", "segment"),
    [
        (1, 512, 2 * MIB),
        (512, 512, 2 * MIB),
        (513, 1024, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),
        (10 * MIB - 512, 10 * MIB - 512, 20 * MIB),
        (10 * MIB - 511, 10 * MIB, 10 * MIB),
        (10 * MIB + 1, 10 * MIB + 512, 12 * MIB),
        (23 * MIB, 23 * MIB, 24 * MIB),
    ],
)
def test_sizes_are_rounded_as_in_pytorch(nbytes: int, size: int, segment: int) -> None:
    assert round_size(nbytes) == size
    assert segment_size(size) == segment


def test_the_sizes_are_those_of_the_installed_torch(require: Callable[[str], ModuleType]) -> None:
    header = Path(str(require("torch").__file__)).parent / "include" / "c10" / "core" / "AllocatorConfig.h"
    text = header.read_text(encoding="utf-8")
    found = dict(re.findall(r"constexpr size_t (k\w+) = (\d+);", text))
    found |= dict(re.findall(r"size_t> (large_segment_size_)\{(\d+)\}", text))
    assert {name: int(value) for name, value in found.items()} == {
        "kMinBlockSize": blocks.MIN_BLOCK_SIZE,
        "kSmallSize": blocks.SMALL_SIZE,
        "kSmallBuffer": blocks.SMALL_SEGMENT,
        "large_segment_size_": blocks.LARGE_SEGMENT,
        "kMinLargeAlloc": blocks.MIN_LARGE_REQUEST,
        "kRoundLarge": blocks.ROUND_LARGE,
    }


def test_the_free_list_is_ordered_by_stream_size_and_address() -> None:
    pool = pool_of((1, 4096, 0), (0, 8192, 70000), (0, 8192, 50000), (0, 512, 90000))
    assert [block.address for block in pool.free] == [90000, 50000, 70000, 0]
    pool.remove(pool.free[1])
    assert [block.address for block in pool.free] == [90000, 70000, 0]


def test_removing_a_block_that_is_not_free_is_noticed() -> None:
    pool = pool_of((0, 512, 0))
    with pytest.raises(AssertionError, match=r"is not in the free list of the large_pool"):
        pool.remove(Block(0, 512, 0, pool))


def test_the_smallest_block_that_is_large_enough_is_chosen() -> None:
    free = pool_of((0, 1024, 0), (0, 4096, 10000), (0, 4096, 20000), (0, 8192, 30000)).free
    assert [
        getattr(best_fit(free, size, 0), "address", None) for size in (512, 1024, 1536, 4096, 4608, 8192, 8704)
    ] == [
        0,
        0,
        10000,
        10000,
        30000,
        30000,
        None,
    ]


def test_a_block_of_another_stream_is_never_chosen() -> None:
    free = pool_of((3, 1024, 0), (5, 2048, 10000), (9, 1024, 20000)).free
    chosen = {stream: best_fit(free, 1024, stream) for stream in (0, 3, 4, 5, 9, 11)}
    assert {stream: block and block.address for stream, block in chosen.items()} == {
        0: None,
        3: 0,
        4: None,
        5: 10000,
        9: 20000,
        11: None,
    }
    assert best_fit(free, 1536, 3) is None


@pytest.mark.parametrize(
    ("name", "rest", "cut"),
    [
        ("small_pool", 0, False),
        ("small_pool", 512, True),
        ("small_pool", MIB, True),
        ("large_pool", 0, False),
        ("large_pool", 512, False),
        ("large_pool", MIB, False),
        ("large_pool", MIB + 512, True),
    ],
)
def test_a_block_is_cut_where_the_rest_can_serve_a_request_of_its_pool(name: str, rest: int, cut: bool) -> None:
    size = 512 * KIB if name == "small_pool" else 3 * MIB
    assert should_split(Block(0, size + rest, 0, Pool(name)), size) is cut


def test_cutting_keeps_the_chain_of_neighbours() -> None:
    whole = Block(4096, 8192, 7, Pool("small_pool"))
    last = split(whole, 6144)
    middle = split(whole, 1024)
    assert [(block.address, block.size, block.stream) for block in whole.segment()] == [
        (4096, 1024, 7),
        (5120, 5120, 7),
        (10240, 2048, 7),
    ]
    assert list(whole.segment()) == [whole, middle, last]
    assert (whole.previous, middle.previous, last.previous) == (None, whole, middle)
    assert all(block.is_split() for block in (whole, middle, last))


def cut_in_three() -> tuple[Pool, Block, Block, Block]:
    """Three neighbours; none stands in the free list."""
    pool = Pool("small_pool")
    first = Block(0, 3072, 0, pool)
    third = split(first, 2048)
    second = split(first, 1024)
    return pool, first, second, third


def test_joining_with_both_neighbours_gives_the_segment_back() -> None:
    pool, first, second, third = cut_in_three()
    pool.insert(first)
    pool.insert(third)
    assert [merge(second, second.previous), merge(second, second.next)] == [1024, 1024]
    assert (second.address, second.size, second.is_split()) == (0, 3072, False)
    assert pool.free == []


def test_joining_keeps_the_chain_of_neighbours() -> None:
    for joined, into in ((0, 1), (2, 1)):
        pool, *parts = cut_in_three()
        pool.insert(parts[joined])
        merge(parts[into], parts[joined])
        rest = sorted({0, 1, 2} - {joined})
        assert list(parts[rest[0]].segment()) == [parts[index] for index in rest]
        assert parts[rest[1]].previous is parts[rest[0]]


def test_a_neighbour_that_is_not_free_is_not_joined() -> None:
    _, first, second, third = cut_in_three()
    first.allocated, third.events = True, 1
    assert [merge(second, first), merge(second, third), merge(first, first.previous)] == [0, 0, 0]
    assert second.size == 1024
