"""Takes the spare number from the state, or removes it if the state has none."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.engine import STATE_LAYOUT, STATE_WORDS, EngineState
from glasstorch.core.random.mersenne_stream import MersenneStream

FILE = "core/random/mersenne_stream.py"
LINE = 69


def mended(self: MersenneStream, state: NDArray[np.uint8]) -> None:
    """Continue from a state that `state_bytes`, or PyTorch's `get_state`, returned."""
    if state.size != STATE_LAYOUT.itemsize:
        raise RandomNumberError(
            f"Expected a CPUGeneratorImplState of size {STATE_LAYOUT.itemsize} "
            f"but found the input RNG state size to be {state.size}"
        )
    fields = np.ascontiguousarray(state).reshape(-1).view(STATE_LAYOUT)[0]
    left, following = int(fields["left"]), int(fields["next"])
    if not (fields["seeded"] == 1 and 0 < left <= STATE_WORDS and following <= STATE_WORDS):
        raise RandomNumberError(
            f"Invalid mt19937 state: seeded is {fields['seeded']}, left {left}, next {following}; "
            f"expected 1, 1 to {STATE_WORDS} and at most {STATE_WORDS}"
        )
    with self._lock:
        self.first_seed = int(fields["seed"])
        self._get_engine().state = EngineState(fields["words"].astype(np.uint32), STATE_WORDS + 1 - left)
        self._spare_normal = float(fields["normal_y"]) if fields["normal_is_valid"] else None
