"""Which names has torch.autograd.profiler?

Mirrors: torch/autograd/profiler.py
Differs: re-exports of profiler/.
"""

from typing import Any as _Any

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.dispatch.record import recorder as _recorder
from glasstorch.dispatch.record_block import record_function
from glasstorch.profiler.autograd_profile import _ProfilerStats as _ProfilerStats
from glasstorch.profiler.autograd_profile import profile
from glasstorch.profiler.event import FunctionEvent
from glasstorch.profiler.event_list import EventList, MemRecordsAcc
from glasstorch.profiler.kinds import DeviceType as DeviceType
from glasstorch.profiler.kinds import ProfilerActivity as ProfilerActivity
from glasstorch.profiler.kinds import _ExperimentalConfig as _ExperimentalConfig
from glasstorch.profiler.kinds import _supported_activities as _supported_activities
from glasstorch.profiler.kinds import kineto_available as kineto_available
from glasstorch.profiler.nvprof import EnforceUnique, load_nvprof, parse_nvprof_trace
from glasstorch.profiler.ranges import emit_itt, emit_nvtx
from glasstorch.profiler.results import MEMORY_EVENT_NAME as MEMORY_EVENT_NAME
from glasstorch.profiler.results import OUT_OF_MEMORY_EVENT_NAME as OUT_OF_MEMORY_EVENT_NAME
from glasstorch.profiler.steps import KinetoStepTracker

__all__ = [
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "KinetoStepTracker",
    "MemRecordsAcc",
    "emit_itt",
    "emit_nvtx",
    "load_nvprof",
    "parse_nvprof_trace",
    "profile",
    "record_function",
]

_refuse = _refuse_unknown_names(__name__)


def __getattr__(name: str) -> _Any:
    # A flag of PyTorch's that programs read; it is about the context that asks.
    return _recorder.get() is not None if name == "_is_profiler_enabled" else _refuse(name)
