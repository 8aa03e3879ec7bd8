"""Where do the random bits of a CUDA device come from?

Mirrors: aten/src/ATen/core/PhiloxRNGEngine.h, aten/src/ATen/cuda/CUDAGeneratorImpl.cpp
Differs: the bits of all threads are worked out at once, on the CPU; a stream is not registered with CUDA graphs.

Philox (Salmon, Moraes, Dror and Shaw, 2011) has no state: it turns a key and a counter into four words, so every
thread of a kernel makes its own. The key is the seed; the counter's upper half is the number of the thread and its
lower half counts calls. The host keeps the offset: how many words each thread has used in all kernels so far.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from glasstorch.core.random.bounds import RandomNumberError

Words = NDArray[np.uint64]

ROUNDS = 10
MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
KEY_STEPS = 0x9E3779B9, 0xBB67AE85
LOW, WORD = np.uint64(0xFFFFFFFF), np.uint64(32)


def philox(seed: int, counter: Words, subsequence: Words) -> Words:
    """Four 32-bit words for each pair of counter and subsequence, along a new first dimension.

    >>> [hex(word) for word in philox(0, np.zeros(1, np.uint64), np.zeros(1, np.uint64))[:, 0]]
    ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    """
    x, y, z, w = counter & LOW, counter >> WORD, subsequence & LOW, subsequence >> WORD
    first_key, second_key = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(ROUNDS):
        left, right = MULTIPLIERS[0] * x, MULTIPLIERS[1] * z
        x, y, z, w = (
            (right >> WORD) ^ y ^ np.uint64(first_key),
            right & LOW,
            (left >> WORD) ^ w ^ np.uint64(second_key),
            left & LOW,
        )
        first_key = (first_key + KEY_STEPS[0]) & 0xFFFFFFFF
        second_key = (second_key + KEY_STEPS[1]) & 0xFFFFFFFF
    return np.stack(np.broadcast_arrays(x, y, z, w))


class PhiloxStream:
    """The stream of a CUDA device: a seed, and an offset that counts the words that each thread has used."""

    __slots__ = ("_lock", "_offset", "first_seed")

    def __init__(self, seed: int) -> None:
        self.first_seed, self._offset = seed, 0
        self._lock = threading.Lock()

    def start(self, seed: int) -> None:
        """Start the stream of a seed, a number of 64 bits."""
        with self._lock:
            self.first_seed, self._offset = seed, 0

    def state_bytes(self) -> NDArray[np.uint8]:
        """The state of the stream, as the 16 bytes of `torch.cuda.get_rng_state`: the seed and the offset."""
        return np.array([self.first_seed, self._offset], np.uint64).view(np.uint8)

    def load_state_bytes(self, state: NDArray[np.uint8]) -> None:
        """Continue from a state of `state_bytes`, or PyTorch's `get_state`; a seed alone starts its stream."""
        if state.size not in (8, 16):
            raise RandomNumberError(f"RNG state is wrong size: expected 16 bytes, or 8 of a seed, got {state.size}")
        numbers = np.ascontiguousarray(state).reshape(-1).view(np.uint64).tolist()
        offset = _checked_offset(numbers[1] if len(numbers) == 2 else 0)
        with self._lock:
            self.first_seed, self._offset = numbers[0], offset

    def get_offset(self) -> int:
        """How many words each thread has used."""
        return self._offset

    def set_offset(self, offset: int) -> None:
        """Move to an offset of the stream, a multiple of 4."""
        offset = _checked_offset(offset)
        with self._lock:
            self._offset = offset

    def take(self, words: int) -> tuple[int, int]:
        """Reserve words for each thread: returns the seed and the offset where they begin, and advances the stream."""
        with self._lock:
            offset = self._offset
            self._offset += -(-words // 4) * 4
            return self.first_seed, offset


def _checked_offset(offset: int) -> int:
    if offset % 4 or not 0 <= offset < 1 << 64:
        raise RandomNumberError(f"offset must be a multiple of 4, got {offset}")
    return offset
