"""How is a program profiled step by step?

Mirrors: torch/profiler/profiler.py (_KinetoProfile, profile, tensorboard_trace_handler, ExecutionTraceObserver)
Differs: a step leads from one action to the next by rules, where PyTorch has a table of all pairs. An observer of
    execution traces, and the timeline of memory, are refused by name.
"""

from __future__ import annotations

import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final, NoReturn, Self

from glasstorch.core.errors import ArgumentError
from glasstorch.dispatch.record_block import record_function
from glasstorch.profiler.autograd_profile import _ProfilerStats, without_conflict
from glasstorch.profiler.autograd_profile import profile as one_profile
from glasstorch.profiler.event_list import EventList
from glasstorch.profiler.kinds import (
    Activities,
    ProfilerActivity,
    _ExperimentalConfig,
    json_value,
    read_activities,
)
from glasstorch.profiler.steps import KinetoStepTracker, ProfilerAction, Schedule, checked_action, every_step

STEP_NAME: Final = "ProfilerStep"
RECORDING: Final = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
DEVICES: Final = {
    ProfilerActivity.CUDA: "cuda",
    ProfilerActivity.XPU: "xpu",
    ProfilerActivity.MTIA: "mtia",
    ProfilerActivity.HPU: "hpu",
    ProfilerActivity.PrivateUse1: "privateuseone",
}


class _KinetoProfile:
    """A profile that is started and stopped, any number of times."""

    def __init__(
        self,
        *,
        activities: Activities | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: _ExperimentalConfig | None = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        if execution_trace_observer is not None:
            refuse_observer("profile(execution_trace_observer=...)")
        self.activities = read_activities(activities)
        self.record_shapes = record_shapes
        self.with_flops = with_flops
        self.profile_memory = profile_memory
        self.with_stack = with_stack
        self.with_modules = with_modules
        self.experimental_config = (
            None if experimental_config is None else without_conflict(experimental_config, with_stack)
        )
        self.execution_trace_observer = None
        self.acc_events = acc_events
        self.custom_trace_id_callback = custom_trace_id_callback
        self.post_processing_timeout_s = post_processing_timeout_s
        self.use_device = next((DEVICES[one] for one in DEVICES if one in self.activities), None)
        self.profiler: one_profile | None = None
        self.preset_metadata: dict[str, str] = {}
        self._trace_metadata: dict[str, str] = {}

    def start(self) -> None:
        """Start recording."""
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        """Stop recording."""
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Get ready to record; what an earlier cycle recorded is dropped, unless `acc_events`."""
        if self.profiler is not None and not self.acc_events:
            _warn_once(
                "Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will be "
                "reported. To keep events across cycles, set acc_events=True."
            )
        if self.profiler is None or not self.acc_events:
            self.profiler = one_profile(
                use_cpu=ProfilerActivity.CPU in self.activities,
                use_device=self.use_device,
                record_shapes=self.record_shapes,
                with_flops=self.with_flops,
                profile_memory=self.profile_memory,
                with_stack=self.with_stack,
                with_modules=self.with_modules,
                use_kineto=True,
                experimental_config=self.experimental_config,
                acc_events=self.acc_events,
                custom_trace_id_callback=self.custom_trace_id_callback,
                post_processing_timeout_s=self.post_processing_timeout_s,
            )
        self.profiler._prepare_trace()

    def start_trace(self) -> None:
        """Record from now on."""
        self._running("start_trace")._start_trace()
        for setting in ("profile_memory", "with_stack", "record_shapes", "with_modules", "with_flops"):
            if getattr(self, setting):
                self.add_metadata_json(setting, "1")
        for key, value in self.preset_metadata.items():
            self.add_metadata_json(key, value)

    def stop_trace(self) -> None:
        """Stop recording; the events are those since `start_trace`."""
        self._running("stop_trace").__exit__(None, None, None)

    def _running(self, what: str) -> one_profile:
        assert self.profiler is not None, f"Profiler must be initialized before {what}: it has not been started"
        return self.profiler

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Stop or resume recording calls of operators, if the activities contain the CPU's."""
        if self.profiler is not None:
            self.profiler.toggle_collection_dynamic(enable, activities)

    def events(self) -> EventList:
        """The events of the last cycle (of all cycles with `acc_events`), by the time at which they began."""
        return self._running("accessing events").function_events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums over events of the same name; of the same shapes, calls around them or overload too, if asked."""
        running = self._running("getting key averages")
        return running.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write the last cycle for Perfetto or chrome://tracing, compressed if the path ends in .gz."""
        self._running("exporting chrome trace").export_chrome_trace(path, self._trace_metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the calls around each event, and its microseconds: what a flame graph is drawn from."""
        self._running("exporting stacks").export_stacks(path, metric)

    def export_memory_timeline(self, path: str, device: str | None = None) -> NoReturn:
        """Refused: PyTorch has deprecated it, and it needs the categories of tensors, which are not recorded."""
        raise NotImplementedError(
            "export_memory_timeline is not in glasstorch: PyTorch has deprecated it. profile_memory=True gives the "
            "table its memory columns and export_chrome_trace the [memory] events"
        )

    def add_metadata(self, key: str, value: str) -> None:
        """Add a text to the file that is exported."""
        self._trace_metadata[key] = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def add_metadata_json(self, key: str, value: str) -> None:
        """Add a value, given in JSON, to the file that is exported."""
        json_value(value)
        self._trace_metadata[key] = value

    def preset_metadata_json(self, key: str, value: str) -> None:
        """Add a value, given in JSON, to the files of all cycles that are started from now on."""
        json_value(value)
        self.preset_metadata[key] = value


class profile(_KinetoProfile):
    """A context manager that records the calls of operators inside it, step by step if it has a `schedule`.

    `step()` says that the next step begins, and `on_trace_ready(profile)` is called whenever a cycle is complete. The
    profile records in its own context: calls in other threads are not seen, and profiles do not nest.
    """

    def __init__(
        self,
        *,
        activities: Activities | None = None,
        schedule: Schedule | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: _ExperimentalConfig | None = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        chosen = read_activities(activities)
        if use_cuda is not None:
            warnings.warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning, stacklevel=2)
            chosen = chosen | {ProfilerActivity.CUDA} if use_cuda else chosen - {ProfilerActivity.CUDA}
        assert chosen, "No valid profiler activities found"
        super().__init__(
            activities=chosen,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
        )
        self.schedule = every_step if schedule is None else schedule
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.step_rec_fn: record_function | None = None
        self.current_action = checked_action(self.schedule(0))
        KinetoStepTracker.init_step_count(STEP_NAME)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
        KinetoStepTracker.erase_step_count(STEP_NAME)

    def start(self) -> None:
        """Begin the first step."""
        self._go(ProfilerAction.NONE, self.current_action)
        self._begin_step()

    def stop(self) -> None:
        """End the last step."""
        self._end_step()
        self._go(self.current_action, None)

    def step(self) -> None:
        """The next step begins."""
        self._end_step()
        following = checked_action(self.schedule(self.step_num + 1))
        self.step_num += 1
        before, self.current_action = self.current_action, following
        self._go(before, following)
        self._begin_step()

    def _begin_step(self) -> None:
        if self.record_steps:
            self.step_rec_fn = record_function(f"{STEP_NAME}#{self.step_num}")
            self.step_rec_fn.__enter__()

    def _end_step(self) -> None:
        if self.step_rec_fn is not None:
            self.step_rec_fn.__exit__(None, None, None)
            self.step_rec_fn = None

    def _go(self, before: ProfilerAction, after: ProfilerAction | None) -> None:
        """From one action to the next; None is the end."""
        continues = before is ProfilerAction.RECORD and after in RECORDING
        if continues or before is after is ProfilerAction.WARMUP:
            return
        if before in RECORDING:
            if before is ProfilerAction.RECORD and after is not None:
                warnings.warn(f"Incorrect schedule: RECORD followed by {after.name}", stacklevel=4)
            self.stop_trace()
            if before is ProfilerAction.RECORD_AND_SAVE or after is None:
                self._trace_ready()
        elif before is ProfilerAction.WARMUP and after not in RECORDING:
            if after is not None:
                warnings.warn(f"Incorrect schedule: WARMUP followed by {after.name}", stacklevel=4)
            self.start_trace()
            self.stop_trace()
        if after in (*RECORDING, ProfilerAction.WARMUP) and before is not ProfilerAction.WARMUP:
            self.prepare_trace()
        if after in RECORDING:
            self.start_trace()

    def _trace_ready(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def set_custom_trace_id_callback(self, callback: Callable[[], str]) -> None:
        """Let a function give the cycles that begin from now on their ids."""
        self.custom_trace_id_callback = callback

    def get_trace_id(self) -> str | None:
        """The id of the last cycle; None before the first."""
        return None if self.profiler is None else self.profiler.trace_id

    def _stats(self) -> _ProfilerStats | None:
        return None if self.profiler is None else self.profiler._stats


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """What `on_trace_ready` takes to write each cycle into a folder, where TensorBoard's plugin looks for it.

    A file's name begins with `worker_name`, by default that of the machine and the process.
    """

    def write(profile: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        ending = ".pt.trace.json.gz" if use_gzip else ".pt.trace.json"
        profile.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}{ending}"), use_python_export)

    return write


class ExecutionTraceObserver:
    """Refused by name: PyTorch's graph of a program's execution is not recorded."""

    def __init__(self) -> None:
        refuse_observer("ExecutionTraceObserver()")


def refuse_observer(what: str) -> NoReturn:
    """Say that execution traces are left out."""
    raise ArgumentError(
        f"{what}: execution traces are left out of glasstorch; export_chrome_trace writes the timeline of a profile"
    )


_shown: set[str] = set()


def _warn_once(message: str) -> None:
    if message not in _shown:
        _shown.add(message)
        warnings.warn(message, stacklevel=3)
