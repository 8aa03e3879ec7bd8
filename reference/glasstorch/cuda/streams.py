"""Which classes does torch.cuda.streams hold?

Mirrors: torch/cuda/streams.py
Differs: re-exports of kernels/cuda/stream.py.
"""

from glasstorch.kernels.cuda.stream import Event as Event
from glasstorch.kernels.cuda.stream import Stream as Stream
