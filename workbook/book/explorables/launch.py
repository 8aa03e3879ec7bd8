"""Which threads of a launch have an element, which memory does a warp touch, and where do its threads part?

A model of what CUDA promises, and of the sizes in which its cards fetch memory. The page computes the same by a program
of its own, and a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from glasstorch.devices.driver import Properties
from workbook.book.figures.kit import Figure

WARP = Properties("", 0, 0, 0, 0).warp_size  # threads that execute together
SECTOR, LINE = 32, 128  # bytes: the least that is fetched, and what the cache keeps together
SIZES = {"uint8": 1, "float16": 2, "float32": 4, "float64": 8}
BLOCKS = (32, 48, 64, 128)
STRIDES, OFFSETS = (0, 1, 2, 4, 8, 32), (0, 1, 3, 8)
MOST_BLOCKS, MOST_ELEMENTS = 6, 400
BRANCHES: dict[str, Callable[[int, int], int]] = {
    "none": lambda i, t: 0,
    "i % 2": lambda i, t: i % 2,
    "threadIdx.x % 32 < 16": lambda i, t: int(t % WARP < WARP // 2),
    "threadIdx.x / 32 % 2": lambda i, t: t // WARP % 2,
}


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch of `if (i < n) out[i] = x[offset + stride * i]`, with a branch inside. `x` begins at a line."""

    n: int
    block: int
    blocks: int
    guard: bool = True
    size: int = 4
    stride: int = 1
    offset: int = 0
    branch: str = "none"

    def warps(self) -> list[list[tuple[int, int]]]:
        """For each warp, of its threads the element and the number in the block."""
        return [
            [(number * self.block + thread, thread) for thread in range(first, min(first + WARP, self.block))]
            for number in range(self.blocks)
            for first in range(0, self.block, WARP)
        ]

    def facts(self) -> dict[str, int]:
        """What the whole launch does."""
        warps = [self.fetched(warp) for warp in self.warps()]
        threads = self.blocks * self.block
        return {
            "threads": threads,
            "missed": max(self.n - threads, 0),
            "beyond": max(threads - self.n, 0),
            "warps": len(warps),
            "sectors": sum(len(warp["sectors"]) for warp in warps),
            "used": sum(warp["used"] for warp in warps),
            "parted": sum(warp["ways"] > 1 for warp in warps),
        }

    def warp(self, number: int) -> dict[str, Any]:
        """What one warp does: its active threads, the sectors and lines that they read, the ways that they take."""
        return self.fetched(self.warps()[number])

    def fetched(self, warp: list[tuple[int, int]]) -> dict[str, Any]:
        """The same of a warp given by its threads."""
        active = [(i, thread) for i, thread in warp if i < self.n or not self.guard]
        addresses = {(self.offset + self.stride * i) * self.size for i, _ in active}
        return {
            "active": len(active),
            "sectors": sorted({address // SECTOR for address in addresses}),
            "lines": len({address // LINE for address in addresses}),
            "used": len(addresses) * self.size,
            "ways": len({BRANCHES[self.branch](i, thread) for i, thread in active}),
        }


def data() -> dict[str, Any]:
    """The sizes, and what a reader can choose."""
    return {
        "warp": WARP,
        "sector": SECTOR,
        "line": LINE,
        "sizes": [[name, size] for name, size in SIZES.items()],
        "blocks": BLOCKS,
        "strides": STRIDES,
        "offsets": OFFSETS,
        "branches": list(BRANCHES),
        "most": {"blocks": MOST_BLOCKS, "elements": MOST_ELEMENTS},
    }


def figure() -> Figure:
    """Two warps that read as many numbers, next to each other and far apart, and the sectors that are fetched."""
    lane, top, gap = 18, 26, 62
    drawing = Figure("explorable-launch", "What a warp fetches", "", WARP * lane + 1, 0)
    told = []
    for row, stride in enumerate((1, 2)):
        warp = Launch(WARP * stride, WARP, 1, stride=stride).warp(0)
        y = top + row * (2 * 20 + gap + 34)
        drawing.text(0, y - 9, f"x[{stride} * i]" if stride > 1 else "x[i]", size=13, mono=True)
        wide = WARP * lane / 8
        for number in range(WARP):
            drawing.box(number * lane, y, lane - 3, 16, kind="pane", radius=2)
            middle = number * lane + (lane - 3) / 2
            drawing.line([(middle, y + 16), ((number * stride + 0.5) * wide / 8, y + gap)], colour="soft")
        for sector in range(8):
            fetched = sector in warp["sectors"]
            drawing.box(sector * wide, y + gap, wide - 4, 20, kind="glass" if fetched else "plain", dashed=not fetched)
        moved = len(warp["sectors"]) * SECTOR
        said = f"{len(warp['sectors'])} sectors of {SECTOR} bytes: {warp['used']} of {moved} bytes are used"
        drawing.text(0, y + gap + 36, said, size=12.5, colour="soft", room=drawing.width)
        told.append(f"32 threads that read x[{stride} * i] fetch {said}")
        drawing.height = y + gap + 40
    drawing.description = "; ".join(told) + "."
    return drawing
