"""Where does torch keep Stream and Event?

Mirrors: torch/cuda/streams.py
Differs: names only; they are defined in devices/stream.py.
"""

from glasstorch.devices.stream import Event as Event
from glasstorch.devices.stream import Stream as Stream
