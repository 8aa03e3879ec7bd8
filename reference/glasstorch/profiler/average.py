"""What is known of all events with the same name together?

Mirrors: torch/autograd/profiler_util.py (FunctionEventAvg)
"""

from __future__ import annotations

from typing import Any, Final, Self

from glasstorch.profiler.event import FormattedTimesMixin, FunctionEvent
from glasstorch.profiler.kinds import DeviceType

SUMMED: Final = (
    "cpu_time_total",
    "device_time_total",
    "self_cpu_time_total",
    "self_device_time_total",
    "cpu_memory_usage",
    "device_memory_usage",
    "self_cpu_memory_usage",
    "self_device_memory_usage",
    "count",
)
OF_THE_FIRST: Final = (
    "key",
    "node_id",
    "is_async",
    "is_remote",
    "cpu_parent",
    "cpu_children",
    "overload_name",
    "input_shapes",
    "stack",
    "scope",
    "device_type",
    "is_legacy",
    "use_device",
    "is_user_annotation",
)


class FunctionEventAvg(FormattedTimesMixin):
    """Sums over events; times in microseconds, memory in bytes. All other facts are those of the first event."""

    def __init__(self) -> None:
        self.key: str | None = None
        self.count = 0
        self.node_id = 0
        self.is_async = False
        self.is_remote = False
        self.use_device: str | None = None
        self.cpu_time_total: float = 0
        self.device_time_total: float = 0
        self.self_cpu_time_total: float = 0
        self.self_device_time_total: float = 0
        self.input_shapes: Any = None
        self.overload_name: str | None = None
        self.stack: Any = None
        self.scope: int | None = None
        self.cpu_memory_usage = 0
        self.device_memory_usage = 0
        self.self_cpu_memory_usage = 0
        self.self_device_memory_usage = 0
        self.cpu_children: list[FunctionEvent] | None = None
        self.cpu_parent: FunctionEvent | None = None
        self.device_type = DeviceType.CPU
        self.is_legacy = False
        self.is_user_annotation = False
        self.flops: int | None = 0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> Self:
        """Add an event, or the sums of some, of the same name."""
        assert isinstance(other, FunctionEvent | FunctionEventAvg), f"expected an event, got {other!r}"
        if self.key is None:
            for name in OF_THE_FIRST:
                setattr(self, name, getattr(other, name))
        assert other.key == self.key, f"events of {other.key} cannot be added to those of {self.key}"
        for name in SUMMED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if self.flops is None:
            self.flops = other.flops
        elif other.flops is not None:
            self.flops += other.flops
        return self

    __iadd__ = add

    def __repr__(self) -> str:
        on = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str}  self_{on}_time={self.self_device_time_total_str} "
            f"{on}_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {on}_memory_usage={self.device_memory_usage}>"
        )
