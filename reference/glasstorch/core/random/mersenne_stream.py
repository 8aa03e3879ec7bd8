"""How is the state of the CPU's random stream kept, saved and restored?

Mirrors: aten/src/ATen/CPUGeneratorImpl.cpp (set_current_seed, get_state, set_state)
Differs: the engine is made when the first bits are asked for.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.engine import STATE_LAYOUT, STATE_WORDS, EngineState, MersenneTwister

DEFAULT_SEED = 67280421310721


class MersenneStream:
    """An engine, its seed, and the normal number cached for the next call."""

    __slots__ = ("_engine", "_lock", "_spare_normal", "first_seed")

    def __init__(self) -> None:
        self.first_seed = DEFAULT_SEED
        self._engine: MersenneTwister | None = None
        self._spare_normal: float | None = None  # Box-Muller makes two; the second waits here
        self._lock = threading.Lock()

    def start(self, seed: int) -> None:
        """Start the stream of a seed, a number of 64 bits."""
        with self._lock:
            self.first_seed = seed
            self._spare_normal = None
            if self._engine is not None:
                self._engine.seed(seed)

    def state_bytes(self) -> NDArray[np.uint8]:
        """The state of the stream, as the 5056 bytes of `torch.Generator.get_state`."""
        state = np.zeros((), STATE_LAYOUT)
        with self._lock:
            words, used = self._get_engine().state
            fresh = used == STATE_WORDS and np.array_equal(words, MersenneTwister(self.first_seed).state.words)
            state["seed"], state["seeded"], state["words"] = self.first_seed, 1, words
            # Before the first word PyTorch's engine says "next 0, left 1": no block is made yet.
            state["next"], state["left"] = (0, 1) if fresh else (used, STATE_WORDS + 1 - used)
            if self._spare_normal is not None:
                state["normal_y"], state["normal_is_valid"] = self._spare_normal, 1
        return state.reshape(1).view(np.uint8)

    def load_state_bytes(self, state: NDArray[np.uint8]) -> None:
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

    def get_offset(self) -> int:
        """Refused: this stream has no offset."""
        raise RandomNumberError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> None:
        """Refused, as `get_offset`."""
        raise RandomNumberError("CPU Generator does not use offset")

    def _get_engine(self) -> MersenneTwister:
        if self._engine is None:
            self._engine = MersenneTwister(self.first_seed)
        return self._engine
