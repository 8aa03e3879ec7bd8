"""How is a piece of a program profiled once, from beginning to end?

Mirrors: torch/autograd/profiler.py (profile, _ProfilerStats)
Differs: there is one way of recording, whether or not `use_kineto` is given. A file is written from what was kept.
"""

from __future__ import annotations

import copy
import json
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import perf_counter_ns
from types import TracebackType
from typing import Any, Final, Self

from glasstorch.core.errors import ArgumentError, ArgumentValueError
from glasstorch.devices import runtime
from glasstorch.devices.stream import synchronize
from glasstorch.profiler import chrome_trace
from glasstorch.profiler.average import FunctionEventAvg
from glasstorch.profiler.event_list import EventList
from glasstorch.profiler.kinds import ProfilerActivity, _ExperimentalConfig
from glasstorch.profiler.results import Parser
from glasstorch.profiler.session import Recording, Session, Settings

KNOWN_DEVICES: Final = ("cuda", "xpu", "mtia", "hpu")


@dataclass
class _ProfilerStats:
    """How long the profile itself took: what belongs to no event of it."""

    profiling_window_duration_sec: float = 0
    number_of_events: int = 0
    profiler_prepare_call_duration_us: int = 0
    profiler_enable_call_duration_us: int = 0
    profiler_disable_call_duration_us: int = 0
    parse_kineto_call_duration_us: int = 0
    function_events_build_tree_call_duration_us: int = 0


class profile:
    """A context manager that records the calls of operators inside it, and holds the result afterwards.

    It records in its own context: calls in other threads are not seen, and profiles do not nest. Most programs use
    `torch.profiler.profile`, which is built on it and knows steps.
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = False,
        use_cpu: bool = True,
        experimental_config: _ExperimentalConfig | None = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        activity_filters: Mapping[ProfilerActivity, set[str]] | None = None,
    ) -> None:
        self.enabled = enabled
        if not enabled:
            return
        if use_cuda:
            warnings.warn(
                "The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.",
                FutureWarning,
                stacklevel=2,
            )
        if activity_filters:
            raise ArgumentError(
                "profile: activity_filters choose among Kineto's kinds, which glasstorch does not record"
            )
        if post_processing_timeout_s is not None and post_processing_timeout_s < 0:
            raise ArgumentValueError(
                f"post_processing_timeout_s must be non-negative, in seconds; got {post_processing_timeout_s}"
            )
        self.use_cuda = use_cuda
        self.use_device = _usable("cuda" if use_cuda else use_device)
        self.record_shapes = record_shapes or with_flops
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.use_cpu = use_cpu
        self.acc_events = acc_events
        self.experimental_config = without_conflict(experimental_config or _ExperimentalConfig(), with_stack)
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.activity_filters = activity_filters or {}
        self.trace_id = ""
        self.entered = False
        assert use_cpu or use_kineto, "Device-only events supported only with Kineto (use_kineto=True)"
        assert use_cpu or self.use_device, "No activities specified for the profiler"
        assert use_cpu or self.use_device != "cuda", "Legacy CUDA profiling requires use_cpu=True"
        self.kineto_results: Recording | None = None
        self._device_note = ""
        self._session: Session | None = None
        self._function_events: EventList | None = None
        self._old_function_events: EventList | None = None
        self._stats = _ProfilerStats()

    # Recording --------------------------------------------------------------------------------------------------

    def __enter__(self) -> Self | None:
        if not self.enabled:
            return None
        if self.entered:
            raise ArgumentError("Profiler context manager is not reentrant: make a new one for each block")
        self._prepare_trace()
        self._start_trace()
        return self

    def _prepare_trace(self) -> None:
        self.entered = True
        began = perf_counter_ns()
        make = self.custom_trace_id_callback
        self.trace_id = f"{uuid.uuid4().int:032X}" if make is None else make()
        self._session = Session(
            Settings(
                cpu=self.use_cpu,
                cuda=self.use_device == "cuda",
                shapes=self.record_shapes,
                memory=self.profile_memory,
                stack=self.with_stack,
                flops=self.with_flops,
                modules=self.with_modules,
            )
        )
        self._stats.profiler_prepare_call_duration_us = (perf_counter_ns() - began) // 1000

    def _start_trace(self) -> None:
        assert self._session is not None, "_prepare_trace comes first"
        began = perf_counter_ns()
        self._session.start()
        self._stats.profiler_enable_call_duration_us = (perf_counter_ns() - began) // 1000

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self.enabled:
            return
        assert self._session is not None, "the profile was not started"
        if self.use_device == "cuda":
            synchronize()
            driver = runtime.driver()
            self._device_note = f" ({driver.properties(0).name})" if driver.simulated else ""
        began = perf_counter_ns()
        kept = self.kineto_results = self._session.stop()
        self._session = None
        self._stats.profiler_disable_call_duration_us = (perf_counter_ns() - began) // 1000
        self._stats.profiling_window_duration_sec = (kept.end - kept.start) / 1e9
        if self._function_events is not None and self.acc_events:
            self._old_function_events = self._function_events
        self._function_events = None
        if self.acc_events and not self.experimental_config.trace_only:
            self._ensure_function_events()

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Stop or resume recording calls of operators, if the activities contain the CPU's."""
        if self._session is not None and ProfilerActivity.CPU in set(activities):
            if enabled:
                self._session.resume()
            else:
                self._session.pause()

    # Results ----------------------------------------------------------------------------------------------------

    def _ensure_function_events(self) -> EventList:
        if self.experimental_config.trace_only:
            raise ArgumentError(
                "events() is not available when trace_only=True in ExperimentalConfig. Use export_chrome_trace() "
                "instead."
            )
        if self._function_events is not None:
            return self._function_events
        began = perf_counter_ns()
        made: list[Any] = []
        if self.kineto_results is not None:
            config = self.experimental_config
            parser = Parser(self.kineto_results, self.use_device, config.verbose, config.capture_overload_names)
            made = parser.events(self.post_processing_timeout_s)
        parsed = perf_counter_ns()
        events = self._function_events = EventList(
            made, self.use_device, self.profile_memory, self.with_flops, self._device_note
        )
        events._build_tree()
        self._stats.parse_kineto_call_duration_us = (parsed - began) // 1000
        self._stats.function_events_build_tree_call_duration_us = (perf_counter_ns() - parsed) // 1000
        self._stats.number_of_events = len(events)
        if self._old_function_events is not None:
            events += self._old_function_events
            self._old_function_events = None
        return events

    @property
    def function_events(self) -> EventList:
        """The events, by the time at which they began."""
        return self._ensure_function_events()

    def __repr__(self) -> str:
        return self._shown(repr)

    def __str__(self) -> str:
        return self._shown(str)

    def _shown(self, how: Callable[[Any], str]) -> str:
        if not self.enabled or (self.kineto_results is None and self._function_events is None):
            return "<unfinished torch.autograd.profile>"
        return how(self.function_events)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """All events as a table; see `EventList.table`."""
        return self.function_events.table(
            sort_by=sort_by,
            row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            header=header,
            top_level_events_only=top_level_events_only,
        )

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums over events of the same name; see `EventList.key_averages`."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self) -> FunctionEventAvg:
        """The sums over all events."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """The time on the CPU of all events together, in microseconds."""
        return self.function_events.self_cpu_time_total

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the calls around each event; see `EventList.export_stacks`. The profile must have been `with_stack`."""
        assert self.with_stack, "export_stacks() requires with_stack=True"
        self.function_events.export_stacks(path, metric)

    def export_chrome_trace(
        self, path: str, metadata: Mapping[str, str] | None = None, use_python_export: bool = False
    ) -> None:
        """Write the last recording for Perfetto or chrome://tracing, compressed if the path ends in .gz.

        `metadata` are texts in JSON that stand beside the events.
        """
        assert self.kineto_results is not None, "export_chrome_trace: the profile has not finished recording"
        more = {key: json.loads(value) for key, value in (metadata or {}).items()}
        chrome_trace.export(self.kineto_results, path, {"trace_id": self.trace_id, **more})


def without_conflict(config: _ExperimentalConfig, with_stack: bool) -> _ExperimentalConfig:
    """The settings, without the one that with_stack excludes."""
    if not (config.trace_only and with_stack):
        return config
    warnings.warn(
        "trace_only=True is incompatible with with_stack=True (stack traces require event post-processing). Disabling "
        "trace_only.",
        stacklevel=3,
    )
    config = copy.copy(config)
    config.trace_only = False
    return config


def _usable(device: str | None) -> str | None:
    """The device whose times are to be recorded, if there is one; a warning otherwise."""
    if device is None:
        return None
    if device not in KNOWN_DEVICES:
        warnings.warn(f"The {device} is not a valid device option.", stacklevel=3)
        return None
    if device != "cuda" or not runtime.is_available():
        warnings.warn(f"{device.upper()} is not available, disabling {device.upper()} profiling", stacklevel=3)
        return None
    return device
