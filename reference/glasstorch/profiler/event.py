"""What is known of one event of a profile?

Mirrors: torch/autograd/profiler_util.py (FunctionEvent, Interval, Kernel, FormattedTimesMixin, EventMetadata)
Differs: what only Kineto and remote procedure calls know (kernels' grids, flows, node ids) keeps its default.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from glasstorch.profiler.kinds import DeviceType
from glasstorch.profiler.units import format_time


class Interval:
    """A piece of time, in microseconds since the profile began."""

    def __init__(self, start: float, end: float) -> None:
        self.start = start
        self.end = end

    def elapsed_us(self) -> float:
        """How long it is."""
        return self.end - self.start


class Kernel(NamedTuple):
    """Work on a device that an event queued: its name, the device's index, and microseconds."""

    name: str
    device: int
    duration: float


class EventMetadata(NamedTuple):
    """What Kineto says of an event on a device; nothing of it is recorded here."""

    registers_per_thread: int | None
    shared_memory: int | None
    grid: list[int] | None
    block: list[int] | None
    priority: int | None
    blocks_per_sm: float | None
    warps_per_sm: float | None
    occupancy: dict[str, Any] | None
    est_occupancy_pct: float | None
    queued: int | None
    graph_id: int | None
    graph_node_id: int | None
    stream: int | None
    context: int | None
    channel: int | None
    channel_type: int | None
    bytes: int | None
    bandwidth_gb_s: float | None
    collective_name: str | None
    dtype: str | None
    in_msg_nelems: int | None
    out_msg_nelems: int | None
    in_split_size: str | None
    out_split_size: str | None
    global_rank_start: int | None
    global_rank_stride: int | None
    group_size: int | None
    process_group_name: str | None
    process_group_desc: str | None
    group_ranks: str | None
    rank: int | None
    src_rank: int | None
    dst_rank: int | None
    seq: int | None
    is_async: bool | None


# Kineto's words for some of these fields; the others have the field's own.
KINETO_WORDS: Final = {
    "registers_per_thread": "registers per thread", "shared_memory": "shared memory", "blocks_per_sm": "blocks per SM",
    "warps_per_sm": "warps per SM", "est_occupancy_pct": "est. achieved occupancy %", "graph_id": "graph id",
    "graph_node_id": "graph node id", "bandwidth_gb_s": "memory bandwidth (GB/s)", "collective_name": "Collective name",
    "in_msg_nelems": "In msg nelems", "out_msg_nelems": "Out msg nelems", "in_split_size": "In split size",
    "out_split_size": "Out split size", "global_rank_start": "Global rank start",
    "global_rank_stride": "Global rank stride", "group_size": "Group size", "process_group_name": "Process Group Name",
    "process_group_desc": "Process Group Description", "group_ranks": "Process Group Ranks", "rank": "Rank",
    "src_rank": "Src Rank", "dst_rank": "Dst Rank", "seq": "Seq", "is_async": "Is asynchronized op",
}  # fmt: skip
# How a field is read from its text; the others are integers.
READERS: Final[dict[str, Callable[[str], Any]]] = {
    **dict.fromkeys(("blocks_per_sm", "warps_per_sm", "est_occupancy_pct", "bandwidth_gb_s"), float),
    **dict.fromkeys(("grid", "block", "occupancy"), json.loads),
    **dict.fromkeys(
        (
            *("collective_name", "dtype", "in_split_size", "out_split_size"),
            *("process_group_name", "process_group_desc", "group_ranks"),
        ),
        lambda text: text.strip('"'),
    ),
    "is_async": lambda text: text in ("1", "true"),
}


def read_metadata(texts: dict[str, str]) -> EventMetadata | None:
    """The fields of which there is a text; None if there is none."""
    given = {field: texts.get(KINETO_WORDS.get(field, field)) for field in EventMetadata._fields}
    if all(text is None for text in given.values()):
        return None
    return EventMetadata(
        **{field: None if text is None else READERS.get(field, int)(text) for field, text in given.items()}
    )


def _formatted(name: str) -> Any:
    return property(lambda self: format_time(getattr(self, name)))


def old_name(old: str, new: str) -> Any:
    """A property under its old name, which warns."""

    def read(self: Any) -> Any:
        warnings.warn(f"`{old}` is deprecated, please use `{new}` instead.", FutureWarning, stacklevel=2)
        return getattr(self, new)

    return property(read)


class FormattedTimesMixin:
    """Times of an event as text, and the mean over its calls."""

    count: int
    cpu_time_total: Any
    device_time_total: Any

    cpu_time_str = _formatted("cpu_time")
    device_time_str = _formatted("device_time")
    cpu_time_total_str = _formatted("cpu_time_total")
    device_time_total_str = _formatted("device_time_total")
    self_cpu_time_total_str = _formatted("self_cpu_time_total")
    self_device_time_total_str = _formatted("self_device_time_total")

    @property
    def cpu_time(self) -> float:
        """The mean time of a call, in microseconds."""
        return 1.0 * self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self) -> float:
        """The mean time of a call on the device, in microseconds."""
        return 1.0 * self.device_time_total / self.count if self.count else 0.0

    cuda_time = old_name("cuda_time", "device_time")


class FunctionEvent(FormattedTimesMixin):
    """One call of an operator, one node's step, one labelled block; times in microseconds, memory in bytes.

    An event whose time lies inside another's is its child; `self_` counts what no child has.
    """

    def __init__(
        self,
        id: int,
        name: str,
        thread: int,
        start_us: float,
        end_us: float,
        overload_name: str | None = None,
        fwd_thread: int | None = None,
        input_shapes: Any = None,
        stack: Any = None,
        scope: int = 0,
        use_device: str | None = None,
        cpu_memory_usage: int = 0,
        device_memory_usage: int = 0,
        is_async: bool = False,
        is_remote: bool = False,
        sequence_nr: int = -1,
        node_id: int = -1,
        device_type: DeviceType = DeviceType.CPU,
        device_index: int = 0,
        device_resource_id: int | None = None,
        is_legacy: bool = False,
        flops: int | None = None,
        trace_name: str | None = None,
        concrete_inputs: Any = None,
        kwinputs: Any = None,
        is_user_annotation: bool = False,
        is_python_function: bool = False,
        activity_type: str | None = None,
        metadata_json: str | None = None,
        flow_id: int | None = None,
        flow_type: int | None = None,
        flow_start: bool | None = None,
        external_id: int = 0,
        linked_correlation_id: int = 0,
        extra_meta: dict[str, str] | None = None,
        structured_input_shapes: Any = None,
        structured_input_strides: Any = None,
        input_dtypes: Any = None,
        python_id: int = -1,
        python_parent_id: int = -1,
        python_module_id: int = -1,
    ) -> None:
        self.id = id
        self.node_id = node_id
        self.name = name
        self.overload_name = overload_name
        self.trace_name = trace_name
        self.time_range = Interval(start_us, end_us)
        self.thread = thread
        self.fwd_thread = fwd_thread
        self.kernels: list[Kernel] = []
        self.count = 1
        self.cpu_children: list[FunctionEvent] = []
        self.cpu_parent: FunctionEvent | None = None
        self.input_shapes = input_shapes
        self.concrete_inputs = concrete_inputs
        self.kwinputs = kwinputs
        self.stack = stack
        self.scope = scope
        self.use_device = use_device
        self.cpu_memory_usage = cpu_memory_usage
        self.device_memory_usage = device_memory_usage
        self.is_async = is_async
        self.is_remote = is_remote
        self.sequence_nr = sequence_nr
        self.device_type = device_type
        self.device_index = device_index
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.is_legacy = is_legacy
        self.flops = flops
        self.is_user_annotation = is_user_annotation
        self.is_python_function = is_python_function
        self.activity_type = activity_type
        self.self_cpu_percent: Any = -1
        self.total_cpu_percent: Any = -1
        self.total_device_percent: Any = -1
        self._metadata_json = metadata_json
        self.flow_id = flow_id
        self.flow_type = flow_type
        self.flow_start = flow_start
        self.external_id = external_id
        self.linked_correlation_id = linked_correlation_id
        self.event_metadata = read_metadata(extra_meta) if extra_meta else None
        self.structured_input_shapes = structured_input_shapes
        self.structured_input_strides = structured_input_strides
        self.input_dtypes = input_dtypes
        self.python_id = python_id
        self.python_parent_id = python_parent_id
        self.python_module_id = python_module_id

    def append_kernel(self, name: str, device: int, duration: float) -> None:
        """Note work on a device that this event queued."""
        assert self.device_type == DeviceType.CPU, "only an event on the CPU queues kernels"
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child: FunctionEvent) -> None:
        """Note an event that lies directly inside this one."""
        assert isinstance(child, FunctionEvent), f"expected a FunctionEvent, got {child!r}"
        assert self.device_type == child.device_type == DeviceType.CPU, "only events on the CPU have children"
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent: FunctionEvent) -> None:
        """Note the event that this one lies directly inside."""
        assert isinstance(parent, FunctionEvent), f"expected a FunctionEvent, got {parent!r}"
        assert self.device_type == parent.device_type == DeviceType.CPU, "only events on the CPU have parents"
        self.cpu_parent = parent

    def _without_children(self, name: str) -> Any:
        """An amount, less what the children have of it; 0 for an event that has none on the CPU."""
        if self.is_async or self.device_type != DeviceType.CPU:
            return 0
        return getattr(self, name) - sum(getattr(child, name) for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        """Bytes taken on the CPU, children excluded."""
        return int(self._without_children("cpu_memory_usage"))

    @property
    def self_device_memory_usage(self) -> int:
        """Bytes taken on the device, children excluded."""
        return int(self._without_children("device_memory_usage"))

    @property
    def cpu_time_total(self) -> float:
        """How long the event lasted on the CPU."""
        return self.time_range.elapsed_us() if self.device_type == DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self) -> float:
        """How long it lasted, children excluded."""
        return float(self._without_children("cpu_time_total"))

    @property
    def device_time_total(self) -> float:
        """The time on the device of what the event queued."""
        if self.is_async or not self.use_device:
            return 0
        if self.device_type != DeviceType.CPU:
            return self.time_range.elapsed_us()
        own = sum(kernel.duration for kernel in self.kernels)
        # Between two events on a stream lies all that was queued, by children too.
        return own if self.is_legacy else own + sum(child.device_time_total for child in self.cpu_children)

    @property
    def self_device_time_total(self) -> float:
        """The time on the device, children excluded."""
        if self.is_async or not self.use_device:
            return 0
        if self.device_type != DeviceType.CPU:
            return self.device_time_total
        return self.device_time_total - sum(child.device_time_total for child in self.cpu_children)

    self_cuda_memory_usage = old_name("self_cuda_memory_usage", "self_device_memory_usage")
    cuda_time_total = old_name("cuda_time_total", "device_time_total")
    self_cuda_time_total = old_name("self_cuda_time_total", "self_device_time_total")

    @property
    def metadata_json(self) -> str | None:
        """The metadata as text."""
        warnings.warn(
            "`metadata_json` is deprecated. Use `event_metadata` instead.", category=FutureWarning, stacklevel=2
        )
        return self._metadata_json

    @property
    def key(self) -> str:
        """What events are grouped by: the name."""
        return self.name

    def __repr__(self) -> str:
        on = self.use_device
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} "
            f"device_type={self.device_type} node_id={self.node_id} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} {on}_time={self.device_time_str} "
            f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {on}_memory_usage={self.device_memory_usage} "
            f"is_async={self.is_async} is_remote={self.is_remote} seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )
