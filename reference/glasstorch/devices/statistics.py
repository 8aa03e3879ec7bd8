"""What does the caching allocator count?

Mirrors: c10/core/CachingDeviceAllocator.h (DeviceStats), c10/core/Allocator.h (Stat), torch/csrc/cuda/Module.cpp
    (THCPModule_memoryStats), torch/cuda/memory.py (memory_summary)
Differs: features that the allocator lacks are not counted: max_split_size (`oversize_*`), `num_oom_rejections`, private
    pools of graphs.
"""

from __future__ import annotations

POOLS = ("all", "large_pool", "small_pool")
# Each is counted for all pools and for each pool.
METRICS = (
    "allocation",  # blocks in use
    "allocated_bytes",
    "segment",  # pieces allocated by the driver
    "reserved_bytes",
    "active",  # blocks in use, or waiting for a stream
    "active_bytes",
    "inactive_split",  # free blocks that are a part of a segment, which therefore cannot be returned to the driver
    "inactive_split_bytes",
    "requested_bytes",  # active_bytes before rounding
)


class Stat:
    """A counter with its current, peak and accumulated values."""

    __slots__ = ("allocated", "current", "freed", "peak")

    def __init__(self) -> None:
        self.current = 0
        self.peak = 0
        self.allocated = 0  # the sum of all increases
        self.freed = 0  # the sum of all decreases

    def change(self, amount: int) -> None:
        """Add an amount, which may be negative."""
        self.current += amount
        if amount > 0:
            self.allocated += amount
            if self.current > self.peak:
                self.peak = self.current
        else:
            self.freed -= amount

    def as_dict(self) -> dict[str, int]:
        """The four values by name."""
        return {name: getattr(self, name) for name in ("current", "peak", "allocated", "freed")}


class Statistics:
    """The counts of one device."""

    __slots__ = (
        "metrics",
        "num_alloc_retries",
        "num_device_alloc",
        "num_device_free",
        "num_ooms",
        "num_sync_all_streams",
    )

    def __init__(self) -> None:
        self.metrics = {metric: {pool: Stat() for pool in POOLS} for metric in METRICS}
        self.num_alloc_retries = 0  # requests that were tried again after the cache was emptied
        self.num_ooms = 0  # requests that failed
        self.num_sync_all_streams = 0  # waits for all streams
        self.num_device_alloc = 0  # successful calls of the driver's malloc
        self.num_device_free = 0

    def change(self, metric: str, pool: str, amount: int) -> None:
        """Count a change in one pool, and in the total of all pools."""
        stats = self.metrics[metric]
        stats["all"].change(amount)
        stats[pool].change(amount)

    def current(self, metric: str) -> int:
        """The current value of a metric, over all pools."""
        return self.metrics[metric]["all"].current

    def reset_accumulated(self) -> None:
        """Reset the sums of increases and decreases, and the counts of events, to 0."""
        for stats in self.metrics.values():
            for stat in stats.values():
                stat.allocated = stat.freed = 0
        self.num_alloc_retries = self.num_ooms = self.num_sync_all_streams = 0
        self.num_device_alloc = self.num_device_free = 0

    def reset_peak(self) -> None:
        """Reset every peak to the current value."""
        for stats in self.metrics.values():
            for stat in stats.values():
                stat.peak = stat.current

    def nested(self) -> dict[str, object]:
        """All counts, as torch.cuda.memory_stats_as_nested_dict names them."""
        counts: dict[str, object] = {name: getattr(self, name) for name in self.__slots__ if name.startswith("num_")}
        for metric, stats in self.metrics.items():
            counts[metric] = {pool: stat.as_dict() for pool, stat in stats.items()}
        return counts


# The table ------------------------------------------------------------------------------------------------------

ROWS = (
    ("allocated_bytes", "Allocated memory"),
    ("active_bytes", "Active memory"),
    ("requested_bytes", "Requested memory"),
    ("reserved_bytes", "GPU reserved memory"),
    ("inactive_split_bytes", "Non-releasable memory"),
    ("allocation", "Allocations"),
    ("active", "Active allocs"),
    ("segment", "GPU reserved segments"),
    ("inactive_split", "Non-releasable allocs"),
)
PARTS = (("large_pool", "      from large pool"), ("small_pool", "      from small pool"))
COLUMNS = ("current", "peak", "allocated", "freed")
WIDTH = 75


def summary(statistics: Statistics, name: str, abbreviated: bool = False) -> str:
    """The counts as the table of torch.cuda.memory_summary, titled `name`. `abbreviated` omits the two pools.

    The row of a pool uses the unit of the row above it, which is for all pools.
    """
    events = f"CUDA OOMs: {statistics.num_ooms:<12d} | cudaMalloc retries: {statistics.num_alloc_retries:<8d}"
    double, single = "=" * WIDTH, "-" * WIDTH
    head = "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  "
    lines = [double, f"{name:^{WIDTH}}", single, f"{events:^{WIDTH}}", double, head]
    for metric, title in ROWS:
        lines.append(single)
        stats = statistics.metrics[metric]
        for pool, row in (("all", title), *(() if abbreviated else PARTS)):
            pairs = [(getattr(stats[pool], column), getattr(stats["all"], column)) for column in COLUMNS]
            cells = [size_cell(*pair) if metric.endswith("_bytes") else count_cell(*pair) for pair in pairs]
            lines.append(f" {row:<21} | {' | '.join(cells)} ")
    lines.append(double)
    return "".join(f"|{line}|\n" for line in lines)


def size_cell(nbytes: int, unit_of: int) -> str:
    """A number of bytes in ten characters, in the unit that suits another number.

    >>> size_cell(20 << 20, 20 << 20), size_cell(1 << 20, 5 << 30)
    (' 20480 KiB', '     1 MiB')
    """
    units = ["B  ", "KiB", "MiB", "GiB", "TiB", "PiB"]
    power = 0
    while unit_of >= 768 << 10 and power < len(units) - 1:
        power, nbytes, unit_of = power + 1, nbytes >> 10, unit_of >> 10
    return f"{nbytes:6d} {units[power]}"


def count_cell(count: int, unit_of: int) -> str:
    """A number in ten characters, in thousands or millions if that suits another number.

    >>> count_cell(12, 12), count_cell(12, 5_000_000)
    ('     12   ', '      0 K ')
    """
    units = " KM"
    power = 0
    while unit_of >= 750_000 and power < len(units) - 1:
        power, count, unit_of = power + 1, count // 1000, unit_of // 1000
    return f"{count:7d} {units[power]} "
