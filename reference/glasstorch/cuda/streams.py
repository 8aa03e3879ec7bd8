"""Which classes does torch.cuda.streams hold?

Mirrors: torch/cuda/streams.py
Differs: re-exports of devices/stream.py.
"""

from glasstorch.devices.stream import Event as Event
from glasstorch.devices.stream import Stream as Stream
