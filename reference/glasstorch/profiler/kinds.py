"""Which activities and devices can a profile be about, and which settings are taken?

Mirrors: torch/csrc/autograd/init.cpp (ProfilerActivity, DeviceType, _supported_activities, kineto_available),
    torch/csrc/profiler/orchestration/observer.h (ExperimentalConfig), torch/_environment.py
Differs: there is no Kineto and no CUPTI. `kineto_available()` is True all the same: what it announces, a timeline of
    records that can be exported, is here. Of the experimental settings `verbose`, `capture_overload_names` and
    `trace_only` have an effect; those that ask for what only CUPTI or Kineto knows are refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any

from glasstorch.core.errors import ArgumentError


class ProfilerActivity(IntEnum):
    """A group of activities: what the CPU does, what a device does."""

    CPU = 0
    XPU = 1
    MTIA = 4
    CUDA = 2
    HPU = 3
    PrivateUse1 = 5

    def __str__(self) -> str:
        return f"ProfilerActivity.{self.name}"


class DeviceType(IntEnum):
    """Where an event took place."""

    CPU = 0
    CUDA = 1
    MKLDNN = 2
    OPENGL = 3
    OPENCL = 4
    IDEEP = 5
    HIP = 6
    FPGA = 7
    MAIA = 8
    XLA = 9
    Vulkan = 10
    Metal = 11
    XPU = 12
    MPS = 13
    Meta = 14
    HPU = 15
    VE = 16
    Lazy = 17
    IPU = 18
    MTIA = 19
    PrivateUse1 = 20

    def __str__(self) -> str:
        return f"DeviceType.{self.name}"


def supported_activities() -> set[ProfilerActivity]:
    """The activities of which there is a timeline: the CPU's.

    `ProfilerActivity.CUDA` is taken too. As in PyTorch without CUPTI, each operator then has the time that passed
    between two events on the current stream, before and after it.
    """
    return {ProfilerActivity.CPU}


_supported_activities = supported_activities


def kineto_available() -> bool:
    """Whether timelines are recorded: always."""
    return True


def is_fbcode() -> bool:
    """Whether this is a build inside Meta: never."""
    return False


Activities = Iterable[ProfilerActivity | dict[ProfilerActivity, list[str]]]


def read_activities(activities: Activities | None) -> set[ProfilerActivity]:
    """The groups that a caller asks for, each at most once; all that are supported for None.

    ArgumentError for a dict, which picks kinds of activity inside a group: Kineto's, which are not told apart here.
    """
    if activities is None:
        return supported_activities()
    chosen: set[ProfilerActivity] = set()
    for item in activities:
        if isinstance(item, dict):
            raise ArgumentError(
                f"profile: a choice inside a group of activities, {item!r}, is not supported: glasstorch records no "
                "kinds of Kineto's; pass the ProfilerActivity itself"
            )
        if not isinstance(item, ProfilerActivity):
            raise TypeError(f"Expected ProfilerActivity or dict, got {type(item)}")
        if item in chosen:
            raise ValueError(f"Activity {item} specified more than once")
        chosen.add(item)
    return chosen


class _ExperimentalConfig:
    """Settings that PyTorch calls experimental.

    `verbose` gives each event the Python calls around it (with `with_stack`), `capture_overload_names` its overload's
    name, and `trace_only` leaves out the events, so that only a trace can be exported. `adjust_profiler_step`,
    `disable_external_correlation`, `adjust_timestamps` and `expose_kineto_event_metadata` are about Kineto's own data,
    and change nothing.
    """

    def __init__(
        self,
        profiler_metrics: Sequence[str] = (),
        profiler_measure_per_kernel: bool = False,
        verbose: bool = False,
        performance_events: Sequence[str] = (),
        enable_cuda_sync_events: bool = False,
        adjust_profiler_step: bool = False,
        disable_external_correlation: bool = False,
        profile_all_threads: bool = False,
        capture_overload_names: bool = False,
        record_python_gc_info: bool = False,
        expose_kineto_event_metadata: bool = False,
        custom_profiler_config: str = "",
        adjust_timestamps: bool = False,
        trace_only: bool = False,
    ) -> None:
        refused = {
            "profiler_metrics": (profiler_metrics, "the counters of CUPTI"),
            "profiler_measure_per_kernel": (profiler_measure_per_kernel, "the counters of CUPTI"),
            "performance_events": (performance_events, "the processor's counters"),
            "enable_cuda_sync_events": (enable_cuda_sync_events, "the synchronisations that CUPTI sees"),
            "profile_all_threads": (profile_all_threads, "the calls of other threads"),
            "record_python_gc_info": (record_python_gc_info, "the runs of Python's garbage collector"),
        }
        for name, (value, what) in refused.items():
            if value:
                raise ArgumentError(
                    f"_ExperimentalConfig({name}={value!r}): glasstorch does not record {what}; leave {name} out"
                )
        if custom_profiler_config and "cupti_monitor" in custom_profiler_config:
            raise ArgumentError(
                f"_ExperimentalConfig(custom_profiler_config={custom_profiler_config!r}): there is no CUPTI monitor in "
                "glasstorch"
            )
        self.verbose = verbose
        self.capture_overload_names = capture_overload_names
        self.custom_profiler_config = custom_profiler_config
        self.trace_only = trace_only


def json_value(text: str) -> Any:
    """The value that a caller gives as JSON; ArgumentError for what is none, which would spoil the whole file."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ArgumentError(f"expected a value in JSON, got {text!r}: {error}") from None
