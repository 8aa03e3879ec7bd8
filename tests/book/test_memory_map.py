"""Is the memory of the CUDA allocator drawn as a snapshot tells it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch
import workbook
from glasstorch import cuda
from glasstorch.devices import runtime
from glasstorch.devices.allocator import CachingAllocator
from glasstorch.devices.blocks import KIB, MIB
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.devices.snapshot import SegmentInfo, snapshot
from tests.book.test_live_figures import words
from tests.devices.fake_driver import FakeDriver
from workbook.book.cells import show_memory_map
from workbook.book.figures import memory_map


def some_memory() -> tuple[list[Any], list[SegmentInfo]]:
    """Three blocks in use and one that waits, and the snapshot."""
    driver: Any = FakeDriver(devices=2)
    allocator = CachingAllocator(driver)
    held = [allocator.allocate(*request) for request in ((1000, 0, 0), (700, 0, 0), (3 * MIB, 1, 0), (512, 0, 2))]
    held[1].record_stream(2)
    del held[1]
    return held, snapshot(allocator)


def test_each_block_is_drawn_with_its_size_and_holders() -> None:
    held, segments = some_memory()
    holders = {"x": (0, held[0].address), "part": (0, held[0].address + 40), "big": (1, held[1].address)}
    figure = memory_map.draw(segments, holders)
    assert words(figure) == [
        *("in use", "waits for a stream", "free"),
        *("cuda:0, small pool, default stream, a segment of 2 MiB", "1 KiB", "x, part", "1 KiB", "2046 KiB"),
        *("cuda:0, small pool, stream 0x2, a segment of 2 MiB", "512 B", "2047.5 KiB"),
        *("cuda:1, large pool, default stream, a segment of 20 MiB", "3 MiB", "big", "17 MiB"),
    ]
    assert figure.svg().count("g-box g-glass") == 4  # one of them in the legend
    assert figure.svg().count("g-box g-torch g-dashed") == 2
    assert figure.description == (
        "cuda:0, small pool, default stream, a segment of 2 MiB: 1 KiB in use (1,000 B asked for) by x and part, "
        "1 KiB waits for a stream (700 B asked for), 2046 KiB free; "
        "cuda:0, small pool, stream 0x2, a segment of 2 MiB: 512 B in use (512 B asked for), 2047.5 KiB free; "
        "cuda:1, large pool, default stream, a segment of 20 MiB: 3 MiB in use (3 MiB asked for) by big, 17 MiB free."
    )


def test_an_address_of_another_device_is_in_no_block() -> None:
    held, segments = some_memory()
    assert "x" not in words(memory_map.draw(segments, {"x": (1, held[0].address)}))


def test_the_figure_is_the_same_wherever_the_memory_lies() -> None:
    held, segments = some_memory()
    moved = list(reversed(segments))
    for segment in moved:
        segment["address"] += 1 << 30
        for block in segment["blocks"]:
            block["address"] += 1 << 30
    address = held[0].address
    assert memory_map.draw(moved, {"x": (0, address + (1 << 30))}) == memory_map.draw(
        some_memory()[1], {"x": (0, address)}
    )


def test_the_blocks_of_a_row_fill_the_width_and_the_largest_takes_most() -> None:
    blocks: Any = [{"address": 0, "size": size, "state": "inactive"} for size in (512, 100 * KIB, 3 * KIB, MIB)]
    (row,) = memory_map.rows_of(blocks, 0, {})
    widths = [width for _, _, width in row]
    assert sum(widths) == pytest.approx(memory_map.WIDTH)
    assert widths[0] < widths[1] < widths[3]
    assert widths[3] > memory_map.WIDTH / 2
    rows = memory_map.rows_of(blocks * 5, 0, {})
    assert [block for row in rows for block, _, _ in row] == blocks * 5
    assert len(rows) > 1
    for row in rows:
        assert sum(width for _, _, width in row) == pytest.approx(memory_map.WIDTH)


def test_what_is_not_drawn_is_told() -> None:
    driver: Any = FakeDriver()
    allocator = CachingAllocator(driver)
    held = [allocator.allocate(512, 0, 0) for _ in range(40)]
    said = words(memory_map.draw(snapshot(allocator), {}))
    assert "cuda:0, small pool, default stream, a segment of 2 MiB, the first 30 of 41 blocks" in said
    assert said.count("512 B") == 30
    held += [allocator.allocate(512, 0, stream) for stream in range(1, 13)]
    assert words(memory_map.draw(snapshot(allocator), {}))[-1] == "3 of 13 segments not drawn"
    assert words(memory_map.draw([], {}))[3:] == ["no segment: the allocator has no memory from the driver"]
    assert held


@pytest.mark.parametrize(
    ("names", "line"),
    [
        ([], ""),
        (["x"], "x"),
        (["x", "y"], "x, y"),
        (["a" * 40, "b" * 30, "c" * 20], f"{'a' * 40}, {'b' * 30}, ... (3)"),
        (["a" * 100, "b"], "2 tensors"),
    ],
)
def test_names_fit_the_figure(names: list[str], line: str) -> None:
    assert memory_map.shortened(names) == line
    block: Any = {"address": 0, "size": 512, "requested_size": 512, "state": "active_allocated"}
    segment: Any = {"device": 0, "segment_type": "small", "stream": 0, "total_size": 512, "blocks": [block]}
    memory_map.draw([segment], dict.fromkeys(names, (0, 0)))  # a text that does not fit is an error


@pytest.fixture
def simulator() -> Iterator[None]:
    """A simulated device."""
    runtime.use_driver(SimDriver(memory=64 * MIB))
    yield
    runtime.use_driver(None)


@pytest.mark.usefixtures("simulator")
def test_tensors_are_called_as_the_callers_variables(capsys: pytest.CaptureFixture[str]) -> None:
    x = glasstorch.zeros(250, device="cuda")
    host = glasstorch.zeros(250)
    before = cuda.memory_snapshot()
    y = glasstorch.zeros(3, device="cuda")
    show_memory_map()
    show_memory_map(mine=y)
    show_memory_map(before)
    show_memory_map(before, x=x, host=host)
    lines = [line.partition("2 MiB: ")[2] for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "1 KiB in use (1,000 B asked for) by x, 512 B in use (12 B asked for) by y, 2046.5 KiB free.",
        "1 KiB in use (1,000 B asked for) by x, 512 B in use (12 B asked for) by mine, 2046.5 KiB free.",
        "1 KiB in use (1,000 B asked for), 2047 KiB free.",
        "1 KiB in use (1,000 B asked for) by x, 2047 KiB free.",
    ]


@pytest.mark.usefixtures("simulator")
def test_what_is_no_tensor_is_refused() -> None:
    not_a_tensor: Any = 3
    with pytest.raises(TypeError, match="show_memory_map: x is of type int"):
        show_memory_map(x=not_a_tensor)


def test_a_reader_imports_the_figure_by_a_short_name() -> None:
    assert workbook.show_memory_map is show_memory_map
    assert "show_memory_map" in dir(workbook)
