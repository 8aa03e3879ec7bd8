"""What does the caching allocator count?

Mirrors: c10/core/CachingDeviceAllocator.h (Stat, DeviceStats), torch/csrc/cuda/Module.cpp (THCPModule_memoryStats)
Differs: nothing is counted of max_split_size (`oversize_*`), which is left out.
"""

from __future__ import annotations

POOLS = ("all", "large_pool", "small_pool")
# Each is counted for all pools and for each pool.
METRICS = (
    "allocation",  # blocks that somebody holds
    "allocated_bytes",
    "segment",  # pieces that the driver gave
    "reserved_bytes",
    "active",  # blocks that somebody holds, or that wait for a stream
    "active_bytes",
    "inactive_split",  # free blocks that are a part of a segment, which therefore cannot be returned to the driver
    "inactive_split_bytes",
    "requested_bytes",  # active_bytes before rounding
)


class Stat:
    """A number that goes up and down."""

    __slots__ = ("allocated", "current", "freed", "peak")

    def __init__(self) -> None:
        self.current = 0
        self.peak = 0
        self.allocated = 0  # the sum of all increases
        self.freed = 0  # the sum of all decreases

    def increase(self, amount: int) -> None:
        """Count up."""
        self.current += amount
        self.allocated += amount
        if self.current > self.peak:
            self.peak = self.current

    def decrease(self, amount: int) -> None:
        """Count down."""
        self.current -= amount
        self.freed += amount

    def change(self, amount: int) -> None:
        """Count up, or down where the amount is negative."""
        if amount > 0:
            self.increase(amount)
        elif amount < 0:
            self.decrease(-amount)

    def as_dict(self) -> dict[str, int]:
        """The four numbers by their names."""
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
        self.num_ooms = 0  # requests that could not be met
        self.num_sync_all_streams = 0  # times that all blocks were waited for
        self.num_device_alloc = 0  # calls of the driver's malloc that gave memory
        self.num_device_free = 0

    def change(self, metric: str, pool: str, amount: int) -> None:
        """Count a change of one pool, and of all."""
        stats = self.metrics[metric]
        stats["all"].change(amount)
        stats[pool].change(amount)

    def current(self, metric: str) -> int:
        """What a metric is now, over all pools."""
        return self.metrics[metric]["all"].current

    def reset_accumulated(self) -> None:
        """Begin the sums of increases and decreases, and the counts of events, from 0."""
        for stats in self.metrics.values():
            for stat in stats.values():
                stat.allocated = stat.freed = 0
        self.num_alloc_retries = self.num_ooms = self.num_sync_all_streams = 0
        self.num_device_alloc = self.num_device_free = 0

    def reset_peak(self) -> None:
        """Begin every peak from what is now."""
        for stats in self.metrics.values():
            for stat in stats.values():
                stat.peak = stat.current

    def nested(self) -> dict[str, object]:
        """All counts, as torch.cuda.memory_stats_as_nested_dict names them."""
        counts: dict[str, object] = {name: getattr(self, name) for name in self.__slots__ if name.startswith("num_")}
        for metric, stats in self.metrics.items():
            counts[metric] = {pool: stat.as_dict() for pool, stat in stats.items()}
        return counts
