"""What did a program do, and how long did each part take?

Reading order: `kinds` (activities and settings), then what is kept of a call: `inputs`, `flops`, `memory` and
`python_calls`; `session` (a recording, from start to stop); what is made of it: `units`, `event`, `average`, `table`,
`event_list`, `results` (from records to events) and `chrome_trace` (a file for Perfetto); then `autograd_profile` (one
recording), `steps` (which steps are recorded) and `profiler`; at last what belongs to others' profilers: `ranges`,
`itt`, `nvprof`.

How a call comes to be recorded is decided below, in `dispatch/record.py`; `record_function` stands beside it.

Mirrors: torch/profiler, torch/autograd/profiler.py, torch/csrc/autograd/profiler_kineto.cpp
Differs: records are Python objects; there is no Kineto, and a device's times come from events on its streams.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.dispatch.record import RecordScope as RecordScope
from glasstorch.dispatch.record_block import record_function
from glasstorch.profiler import itt as itt
from glasstorch.profiler.kinds import DeviceType, ProfilerActivity, kineto_available, supported_activities
from glasstorch.profiler.kinds import _ExperimentalConfig as _ExperimentalConfig
from glasstorch.profiler.kinds import _supported_activities as _supported_activities
from glasstorch.profiler.kinds import is_fbcode as is_fbcode
from glasstorch.profiler.profiler import ExecutionTraceObserver, profile, tensorboard_trace_handler
from glasstorch.profiler.profiler import _KinetoProfile as _KinetoProfile
from glasstorch.profiler.steps import KinetoStepTracker as KinetoStepTracker
from glasstorch.profiler.steps import ProfilerAction, schedule

__all__ = [
    "DeviceType",
    "ExecutionTraceObserver",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

__getattr__ = _refuse_unknown_names(__name__)
