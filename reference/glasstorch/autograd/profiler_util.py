"""Which names has torch.autograd.profiler_util?

Mirrors: torch/autograd/profiler_util.py
Differs: re-exports of profiler/. A name of C++ needs no demangling here: `StringTable` gives each key itself.
"""

from collections import defaultdict as _defaultdict

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.profiler.average import FunctionEventAvg
from glasstorch.profiler.event import EventMetadata, FormattedTimesMixin, FunctionEvent, Interval, Kernel
from glasstorch.profiler.event_list import EventList, MemRecordsAcc
from glasstorch.profiler.results import MEMORY_EVENT_NAME as MEMORY_EVENT_NAME
from glasstorch.profiler.results import OUT_OF_MEMORY_EVENT_NAME as OUT_OF_MEMORY_EVENT_NAME
from glasstorch.profiler.units import format_memory as _format_memory  # noqa: F401
from glasstorch.profiler.units import format_share as _format_time_share  # noqa: F401
from glasstorch.profiler.units import format_time as _format_time  # noqa: F401

__all__ = [
    "EventList",
    "EventMetadata",
    "FormattedTimesMixin",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "MemRecordsAcc",
    "StringTable",
]


class StringTable(_defaultdict[str, str]):
    """A dict in which each key that is missing stands for itself."""

    def __missing__(self, key: str) -> str:
        self[key] = key
        return key


__getattr__ = _refuse_unknown_names(__name__)
