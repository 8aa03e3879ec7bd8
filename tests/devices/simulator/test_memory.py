"""Is simulated memory found by address, counted, and are its written bytes followed?"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from glasstorch.core.errors import AcceleratorError
from glasstorch.devices.simulator.guarded_memory import GuardedMemory
from glasstorch.devices.simulator.memory import Regions, SimMemory


@pytest.fixture
def memory() -> SimMemory:
    return SimMemory(devices=2, total=1 << 16, track=True)


def written(memory: SimMemory, address: int, nbytes: int) -> list[int]:
    """The bytes that say what was written."""
    return list((ctypes.c_char * nbytes).from_address(memory.written_bytes(address)).raw)


def test_a_piece_is_found_by_every_address_in_it_and_by_no_other() -> None:
    regions = Regions()
    pieces = [GuardedMemory(1000) for _ in range(5)]
    for piece in pieces:
        regions.add(piece)
    for piece in pieces:
        assert regions.find(piece.address) is piece
        assert regions.find(piece.address + 999) is piece
        assert regions.find(piece.address + 900, 100) is piece
        assert regions.find(piece.address + 900, 101) is None
        assert regions.find(piece.address - 1) is None
    assert regions.remove(pieces[2].address) is pieces[2]
    assert regions.find(pieces[2].address) is None
    assert regions.find(pieces[3].address) is pieces[3]


def test_each_device_has_its_own_amount(memory: SimMemory) -> None:
    address = memory.allocate((1 << 16) - 512, 0)
    memory.allocate(513, 1)
    assert memory.used == [(1 << 16) - 512, 1024]
    with pytest.raises(AcceleratorError, match=r"malloc of 513 bytes on cuda:0: 512 of 65536 are free"):
        memory.allocate(513, 0)
    memory.release(address)
    assert memory.used == [0, 1024]


def test_what_the_computer_has_not_a_device_has_not_either() -> None:
    memory = SimMemory(devices=1, total=1 << 62, track=False)
    with pytest.raises(AcceleratorError, match=r"malloc of \d+ bytes on cuda:0: .*this computer") as caught:
        memory.allocate(1 << 60, 0)
    assert caught.value.code == 2
    assert memory.used == [0]


def test_what_is_written_is_followed_through_copies(memory: SimMemory) -> None:
    x, y = memory.allocate(8, 0), memory.allocate(8, 0)
    memory.fill(x, 7, 4)
    assert written(memory, x, 8) == [1] * 4 + [0] * 4
    memory.copy(y + 2, x + 2, 4)
    assert written(memory, y, 8) == [0, 0, 1, 1, 0, 0, 0, 0]
    memory.copy(y, b"abcd", 4)
    assert written(memory, y, 8) == [1] * 4 + [0] * 4
    memory.poison(y + 1, 2)
    assert written(memory, y, 8) == [1, 0, 0, 1, 0, 0, 0, 0]
    assert ctypes.string_at(y, 4) == b"a\xff\xffd"


def test_the_table_has_a_row_for_each_piece_and_for_pinned_memory_by_address(memory: SimMemory) -> None:
    segment, pinned = memory.allocate(4096, 0), memory.allocate_pinned(100)
    table = memory.table([(segment + 512, 100), (segment, 12)])
    rows = [
        (segment, segment + 12, memory.written_bytes(segment), 0),
        (segment + 512, segment + 612, memory.written_bytes(segment) + 512, 0),
        (pinned, pinned + 100, 0, 0),
    ]
    assert table.dtype == np.uint64
    assert table.tolist() == [list(row) for row in sorted(rows)]


def test_without_memory_the_table_has_no_rows() -> None:
    assert SimMemory(1, 100, track=False).table([]).shape == (0, 4)


def test_nothing_is_followed_where_nobody_asked() -> None:
    memory = SimMemory(1, 1 << 16, track=False)
    address = memory.allocate(8, 0)
    memory.fill(address, 0, 8)
    memory.copy(address, b"12345678", 8)
    assert memory.written_bytes(address) == 0
    assert ctypes.string_at(address, 8) == b"12345678"
