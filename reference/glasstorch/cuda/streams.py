"""Which classes does torch.cuda.streams hold?

Mirrors: torch/cuda/streams.py
Differs: re-exports of devices/stream.py.
"""

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.devices.stream import Event as Event
from glasstorch.devices.stream import Stream as Stream

__getattr__ = _refuse_unknown_names(__name__)
