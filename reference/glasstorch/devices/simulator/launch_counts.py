"""How many loads, stores and barriers did a program's kernel launches execute?

Mirrors: the counters of a profiler (NVIDIA Nsight Compute)
Differs: each access of each thread is counted; the caches of a GPU are not simulated.
"""

from __future__ import annotations

from glasstorch.devices.simulator.module import Counts

# Heading -> field of Counts.
COLUMNS = (
    ("global loads", "global_loads"),
    ("bytes", "global_loaded"),
    ("global stores", "global_stores"),
    ("bytes", "global_stored"),
    ("shared loads", "shared_loads"),
    ("shared stores", "shared_stores"),
    ("barriers", "barriers"),
    ("shuffles", "shuffles"),
    ("atomics", "atomics"),
)


class LaunchCounts(list[tuple[str, Counts]]):
    """The kernel's name and the counts of each launch, in the order in which they ran; prints as a table."""

    def __str__(self) -> str:
        rows = [["kernel", *(heading for heading, _ in COLUMNS)]]
        rows += [[name, *(f"{getattr(counts, field):,}" for _, field in COLUMNS)] for name, counts in self]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(_aligned(row, widths) for row in rows)


def _aligned(row: list[str], widths: list[int]) -> str:
    """A row of the table: the name aligned left, the numbers aligned right."""
    numbers = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
    return "  ".join([row[0].ljust(widths[0]), *numbers])
