"""How are uniform and normal numbers drawn one at a time, when nobody knows how many are needed?

Mirrors: aten/src/ATen/core/DistributionsHelper.h (uniform_real_distribution<double>, normal_distribution<double>)
Differs: words are drawn in blocks; at the end the stream returns to just behind the last one used.

A method that rejects candidates needs a number of draws that depends on what it draws. To take one word at a time would
be a call of NumPy's generator for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from glasstorch.core.random.draws import Stream, normal_pair
from glasstorch.core.random.engine import EngineState

FIRST_BLOCK, LARGEST_BLOCK = 32, 4096  # numbers


class SingleDraws:
    """Uniform and standard normal numbers of a stream, of 53 random bits each."""

    __slots__ = ("_block", "_next", "_saved", "_size", "_stream")

    _saved: EngineState  # where the block begins

    def __init__(self, stream: Stream, expected: int) -> None:
        self._stream = stream
        self._block: list[float] = []
        self._next = 0
        self._size = min(max(expected, FIRST_BLOCK), LARGEST_BLOCK)

    def uniform(self) -> float:
        """The next number of [0, 1)."""
        if self._next == len(self._block):
            self._saved = self._stream.engine_state()
            self._block = self._stream.unit_doubles(self._size)
            self._next = 0
            self._size = min(2 * self._size, LARGEST_BLOCK)
        value = self._block[self._next]
        self._next += 1
        return value

    def normal(self) -> float:
        """The next standard normal number; they come in pairs, and the second waits in the stream for the next call."""
        spare = self._stream.take_spare_normal()
        if spare is not None:
            return spare
        value, second = normal_pair(self.uniform(), self.uniform())
        self._stream.keep_spare_normal(second)
        return value

    def finish(self) -> None:
        """Return the stream to just behind the last number used."""
        if self._next < len(self._block):
            self._stream.return_to(self._saved, self._next)


@contextmanager
def drawn_one_by_one(stream: Stream, expected: int = 0) -> Iterator[SingleDraws]:
    """The numbers of a stream, which stays locked inside the block; an error leaves it behind the last number used.

    `expected` is how many are likely to be used: for each block the stream's state is copied.
    """
    with stream.locked():
        draws = SingleDraws(stream, expected)
        try:
            yield draws
        finally:
            draws.finish()
