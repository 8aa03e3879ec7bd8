"""Where do the random bits of the CPU come from?

Mirrors: aten/src/ATen/core/MT19937RNGEngine.h, aten/src/ATen/CPUGeneratorImpl.cpp (CPUGeneratorImplState)
Differs: words are drawn many at a time, by NumPy's implementation of the same generator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.random import MT19937, RandomState

STATE_WORDS = 624

# The bytes that `torch.Generator.get_state` gives. The middle part is older than the engine that PyTorch uses
# now and holds each 32-bit word in 64 bits.
STATE_LAYOUT = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),  # words left in this block, plus one
        ("seeded", "<i4"),
        ("next", "<u8"),  # index of the next word in this block
        ("words", "<u8", (STATE_WORDS,)),
        ("normal_x", "<f8"),
        ("normal_y", "<f8"),  # the second value of the last pair of normal ones, if not yet used
        ("normal_rho", "<f8"),
        ("normal_is_valid", "<i4"),
        ("padding", "V4"),
        ("float_normal", "<f4"),
        ("float_normal_is_valid", "?"),
        ("end", "V3"),
    ]
)


class EngineState(NamedTuple):
    """The state of a Mersenne twister: a block of 624 words, and how many of them have been used."""

    words: NDArray[np.uint32]
    used: int


class MersenneTwister:
    """MT19937: a stream of 32-bit words determined by one number, the seed."""

    __slots__ = ("_bits", "_seeder")

    _bits: MT19937
    _seeder: RandomState

    def __init__(self, seed: int) -> None:
        # Imported here: it takes 10 ms, and most programs that import the library start without random
        # numbers.
        from numpy.random import MT19937, RandomState

        self._bits = MT19937(0)
        self._seeder = RandomState(self._bits)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Start the stream of this seed. Only its low 32 bits count, as in PyTorch."""
        self._seeder.seed(seed & 0xFFFFFFFF)

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next 32-bit words, each in a uint64."""
        return self._bits.random_raw(count)

    def double_words(self, count: int) -> NDArray[np.uint64]:
        """The next 64-bit words: each is two words of 32 bits, the first one high."""
        words = self.words(2 * count)
        high = words[0::2] << np.uint64(32)
        high |= words[1::2]
        return high

    @property
    def state(self) -> EngineState:
        """The state of the stream. Setting it continues from there."""
        inner = self._bits.state["state"]
        return EngineState(inner["key"], int(inner["pos"]))

    @state.setter
    def state(self, state: EngineState) -> None:
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": state.words, "pos": state.used}}
