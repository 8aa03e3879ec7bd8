"""How does a program seed a stream of random numbers, and save and restore its state?

Mirrors: torch/csrc/Generator.cpp, c10/core/GeneratorImpl.h
Differs: `core/random/draws.py` and `core/random/philox_draws.py` make the numbers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.core import hooks, private_use
from glasstorch.core.device import CPU, device_from
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import uint8
from glasstorch.core.errors import ArgumentTypeError, DeviceError
from glasstorch.core.forks import free_after_forks
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.draws import Stream
from glasstorch.core.random.mersenne_stream import DEFAULT_SEED
from glasstorch.core.random.philox import PhiloxStream
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.core.user_line import warn_user

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


class Generator:
    """A stream of random numbers determined by a seed, for the tensors of one device."""

    __slots__ = ("__weakref__", "device", "stream")

    device: Device
    stream: Any  # a Stream on the CPU, a PhiloxStream on a CUDA device; what the hooks give on a program's own

    def __init__(self, device: str | int | Device | None = CPU) -> None:
        on = CPU if device is None else device_from(device)
        if on.type == "cpu":
            self.device, self.stream = CPU, Stream()
        elif on.type == "cuda":
            self.device = hooks.cuda_hooks.indexed(on)
            self.stream = PhiloxStream(DEFAULT_SEED)
        elif on.type == private_use.name():
            answers = private_use.answers()
            self.device = private_use.with_index(on)
            self.stream = answers.get_new_generator(self.device.index or 0)
        else:
            raise DeviceError(f"Generator: no random numbers are made on device '{device}'; expected 'cpu' or 'cuda'")

    # ---- the seed ------------------------------------------------------------------------------------------

    def manual_seed(self, seed: int, /) -> Generator:
        """Start the stream of this seed; returns the generator. A negative seed counts from 2**64 down."""
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise RandomNumberError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(1 << 63) <= seed < 1 << 64:
            raise ValueError(f"Overflow when unpacking long long: seed {seed} must lie in [-2**63, 2**64)")
        self.stream.start(int(seed) % (1 << 64))
        return self

    def seed(self) -> int:
        """Start the stream of a seed that the operating system picks, and return that seed."""
        seed = int.from_bytes(os.urandom(8), "little")
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed that the stream began with."""
        return self.stream.first_seed  # type: ignore[no-any-return]

    # ---- the state -----------------------------------------------------------------------------------------

    def get_state(self) -> Tensor:
        """The state of the stream, as a uint8 tensor for `set_state`, which PyTorch's `set_state` also accepts."""
        return hooks.tensor_hooks.from_array(self.stream.state_bytes())

    def set_state(self, new_state: Tensor, /) -> Generator:
        """Continue from a state that `get_state`, or PyTorch's, returned; returns the generator."""
        if not isinstance(new_state, TensorImpl):
            raise ArgumentTypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state.dtype is not uint8 or new_state.device is not CPU:
            raise ArgumentTypeError(
                f"RNG state must be a torch.ByteTensor, got dtype {new_state.dtype} on {new_state.device}"
            )
        if not new_state.is_row_major():
            raise RandomNumberError(f"RNG state must be contiguous, got strides {list(new_state.strides())}")
        self.stream.load_state_bytes(new_state.array())
        return self

    def clone_state(self) -> Generator:
        """Another generator that will draw the same numbers."""
        twin = Generator(self.device)
        twin.stream.load_state_bytes(self.stream.state_bytes())
        return twin

    def __reduce__(self) -> tuple[object, ...]:
        return Generator, (self.device,), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, state: tuple[int, None, Tensor]) -> None:
        self.set_state(state[2])

    # ---- what only generators of CUDA devices have ---------------------------------------------------------

    def get_offset(self) -> int:
        """How many words of the stream each thread has used. The CPU's stream has no offset."""
        return self.stream.get_offset()  # type: ignore[no-any-return]

    def set_offset(self, offset: int, /) -> Generator:
        """Move to an offset of the stream, a multiple of 4. The CPU's stream has no offset."""
        if isinstance(offset, bool) or not isinstance(offset, int):
            raise RandomNumberError(f"manual_offset expected a long, but got {type(offset).__name__}")
        self.stream.set_offset(offset)
        return self

    def graphsafe_get_state(self) -> Generator:
        """A generator that shares this one's stream: drawing from either moves both on."""
        self._check_graphsafe("graphsafe_get_state")
        other = Generator(self.device)
        other.stream = self.stream
        return other

    def graphsafe_set_state(self, state: Generator, /) -> Generator:
        """Share the stream of another generator from here on; returns the generator."""
        self._check_graphsafe("graphsafe_set_state")
        if not isinstance(state, Generator):
            raise ArgumentTypeError(f"expected a Generator, but got {type(state).__name__}")
        if state.device.type != "cuda":
            raise RandomNumberError(f"Expected a CUDA Generator, got one of {state.device}")
        self.stream = state.stream
        return self

    def _check_graphsafe(self, name: str) -> None:
        if self.device is CPU:
            raise NotImplementedError(f"{name} is not supported in this Generator")


# A program that never seeds it draws other numbers in each run.
default_generator = Generator()
default_generator.seed()
free_after_forks(default_generator.stream._lock)

# Those of CUDA devices are made when they are first drawn from or asked for, and seeded then: by the seed that was last
# given to all of them, or else by the operating system.
_of_devices: dict[Device, Generator] = {}
_seed_for_all: int | None = None


def default_generator_of(on: Device) -> Generator:
    """The default generator of a tensor's device."""
    if on is CPU:
        return default_generator
    if on.type == private_use.name():
        own: Generator = private_use.answers().get_default_generator(on.index or 0)
        return own
    generator = _of_devices.get(on)
    if generator is None:
        generator = Generator(on)
        if _seed_for_all is None:
            generator.seed()
        else:
            generator.manual_seed(_seed_for_all)
        generator = _of_devices.setdefault(on, generator)
    return generator


def seed_devices(seed: int) -> None:
    """Seed the default generators of all CUDA devices, including those not created yet, and a program's own devices."""
    _seed_private_use(seed)
    global _seed_for_all
    _seed_for_all = seed
    for generator in tuple(_of_devices.values()):
        generator.manual_seed(seed)


def _seed_private_use(seed: int) -> None:
    """Let the module of a program's own device seed its generators. Mirrors: torch/random.py (_seed_custom_device)"""
    module, name = private_use.registered.module, private_use.name()
    if module is None:
        return
    if not (hasattr(module, "_is_in_bad_fork") and hasattr(module, "manual_seed_all")):
        warn_user(
            f"Set seed for `{name}` device does not take effect, please add API's `_is_in_bad_fork` and "
            f"`manual_seed_all` to `{name}` device module."
        )
    elif not module._is_in_bad_fork():
        module.manual_seed_all(seed)


def manual_seed(seed: int) -> Generator:
    """Seed the default generators of all devices; returns the CPU's. It takes whatever `int` takes."""
    default_generator.manual_seed(int(seed))
    seed_devices(int(seed))
    return default_generator
