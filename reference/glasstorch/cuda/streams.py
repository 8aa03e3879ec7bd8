"""Where does torch keep Stream and Event?

Mirrors: torch/cuda/streams.py
Differs: names only; they are defined in kernels/cuda/stream.py.
"""

from glasstorch.kernels.cuda.stream import Event as Event
from glasstorch.kernels.cuda.stream import Stream as Stream
