"""Where does a stream of random numbers stand, and how is it set?

Mirrors: aten/src/ATen/CPUGeneratorImpl.cpp, torch/csrc/Generator.cpp
Differs: nothing in substance; `core/draws.py` makes the numbers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from glasstorch.core import hooks
from glasstorch.core.device import CPU
from glasstorch.core.device import device as Device
from glasstorch.core.draws import Stream
from glasstorch.core.dtype import uint8
from glasstorch.core.errors import ArgumentTypeError, DeviceError
from glasstorch.core.random_bounds import RandomNumberError
from glasstorch.core.random_engine import STATE_LAYOUT, STATE_WORDS, EngineState, MersenneTwister
from glasstorch.core.tensor_impl import TensorImpl

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


class Generator(Stream):
    """A stream of random numbers that a seed decides."""

    __slots__ = ()

    def __init__(self, device: str | int | Device | None = CPU) -> None:
        if device is not None and Device(device).type != "cpu":
            raise DeviceError(
                f"Generator: no random numbers are made on device '{device}'; expected 'cpu', whose numbers are copied "
                f"to tensors on other devices"
            )
        super().__init__()

    @property
    def device(self) -> Device:
        """Where its numbers are made."""
        return CPU

    def manual_seed(self, seed: int, /) -> Generator:
        """Start the stream of this seed; returns the generator. A negative seed counts from 2**64 down."""
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise RandomNumberError(f"manual_seed expected a long, but got {type(seed).__name__}")
        seed = int(seed)
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError(f"Overflow when unpacking long long: seed {seed} must lie in [-2**63, 2**64)")
        with self._lock:
            self._seed = seed % (1 << 64)
            self._spare_normal = None
            if self._engine is not None:
                self._engine.seed(self._seed)
        return self

    def seed(self) -> int:
        """Start the stream of a seed that the operating system picks, and return that seed."""
        seed = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed that the stream began with."""
        return self._seed

    def state_bytes(self) -> NDArray[np.uint8]:
        """Where the stream stands, as the 5056 bytes of `torch.Generator.get_state`."""
        state = np.zeros((), STATE_LAYOUT)
        with self._lock:
            words, used = self._get_engine().state
            fresh = used == STATE_WORDS and np.array_equal(words, MersenneTwister(self._seed).state.words)
            state["seed"], state["seeded"], state["words"] = self._seed, 1, words
            # Before the first word PyTorch's engine says "next 0, left 1": no block is made yet.
            state["next"], state["left"] = (0, 1) if fresh else (used, STATE_WORDS + 1 - used)
            if self._spare_normal is not None:
                state["normal_y"], state["normal_is_valid"] = self._spare_normal, 1
        return state.reshape(1).view(np.uint8)

    def load_state_bytes(self, state: NDArray[np.uint8]) -> None:
        """Continue from what `state_bytes`, or PyTorch's `get_state`, gave."""
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
            self._seed = int(fields["seed"])
            self._get_engine().state = EngineState(fields["words"].astype(np.uint32), STATE_WORDS + 1 - left)
            self._spare_normal = float(fields["normal_y"]) if fields["normal_is_valid"] else None

    def get_state(self) -> Tensor:
        """Where the stream stands, as a uint8 tensor that `set_state`, PyTorch's too, goes on from."""
        return hooks.tensor_hooks.from_array(self.state_bytes())

    def set_state(self, new_state: Tensor, /) -> Generator:
        """Continue from what `get_state`, or PyTorch's, gave; returns the generator."""
        if not isinstance(new_state, TensorImpl):
            raise ArgumentTypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state.dtype is not uint8 or new_state.device is not CPU:
            raise ArgumentTypeError(
                f"RNG state must be a torch.ByteTensor, got dtype {new_state.dtype} on {new_state.device}"
            )
        if not new_state.is_row_major():
            raise RandomNumberError(f"RNG state must be contiguous, got strides {list(new_state.strides())}")
        self.load_state_bytes(new_state.array())
        return self

    def clone_state(self) -> Generator:
        """Another generator that will draw the same numbers."""
        twin = Generator()
        twin.load_state_bytes(self.state_bytes())
        return twin

    def __reduce__(self) -> tuple[object, ...]:
        return Generator, (self.device,), (self._seed, None, self.get_state())

    def __setstate__(self, state: tuple[int, None, Tensor]) -> None:
        self.set_state(state[2])

    # What only generators of devices have: a place in the stream by number, and states that a CUDA graph can hold.

    def get_offset(self) -> int:
        """Refused: the CPU's stream has no places by number."""
        raise RandomNumberError("CPU Generator does not use offset")

    def set_offset(self, offset: int, /) -> Generator:
        """Refused, as `get_offset`."""
        raise RandomNumberError("CPU Generator does not use offset")

    def graphsafe_get_state(self) -> Generator:
        """Refused: no CUDA graph draws from the CPU's stream."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state: Generator, /) -> Generator:
        """Refused, as `graphsafe_get_state`."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Seed the default generator and return it. Unlike the method it takes whatever `int` takes."""
    return default_generator.manual_seed(int(seed))
