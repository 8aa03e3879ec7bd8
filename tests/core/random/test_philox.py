"""Are the bits of a device's stream those of Philox, and does its state say where it stands?"""

import numpy as np
import pytest

from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.philox import PhiloxStream, philox

# Counter (four words), key (two), what comes of them: the known answers for philox4x32-10 in Random123's kat_vectors.
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN_ANSWERS)
def test_words_are_the_known_answers(counter: tuple[int, ...], key: tuple[int, ...], words: tuple[int, ...]) -> None:
    low, high = (np.array([counter[i] | counter[i + 1] << 32], np.uint64) for i in (0, 2))
    assert philox(key[0] | key[1] << 32, low, high)[:, 0].tolist() == list(words)


def test_counters_and_subsequences_broadcast() -> None:
    drawn = philox(5, np.arange(3, dtype=np.uint64)[:, None], np.arange(4, dtype=np.uint64)[None])
    assert drawn.shape == (4, 3, 4)
    alone = philox(5, np.array([2], np.uint64), np.array([3], np.uint64))
    assert drawn[:, 2, 3].tolist() == alone[:, 0].tolist()


def test_who_asks_next_gets_what_follows() -> None:
    stream = PhiloxStream(7)
    assert [stream.take(n) for n in (4, 10, 1)] == [(7, 0), (7, 4), (7, 16)]
    assert stream.get_offset() == 20
    stream.start(9)
    assert stream.take(4) == (9, 0)


def test_the_state_is_the_seed_and_the_offset() -> None:
    stream = PhiloxStream(3 + (1 << 40))
    stream.set_offset(16)
    state = stream.state_bytes()
    assert state.tolist() == [3, 0, 0, 0, 0, 1, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]
    other = PhiloxStream(0)
    other.load_state_bytes(state)
    assert other.take(4) == (3 + (1 << 40), 16)
    other.load_state_bytes(state[:8])  # a seed alone
    assert other.take(4) == (3 + (1 << 40), 0)


def test_states_and_offsets_that_cannot_be_are_refused() -> None:
    stream = PhiloxStream(0)
    with pytest.raises(RandomNumberError, match="RNG state is wrong size: expected 16 bytes, or 8 of a seed, got 12"):
        stream.load_state_bytes(np.zeros(12, np.uint8))
    with pytest.raises(RandomNumberError, match="offset must be a multiple of 4, got 6"):
        stream.set_offset(6)
    with pytest.raises(RandomNumberError, match="offset must be a multiple of 4, got 2"):
        stream.load_state_bytes(np.array([1, 2], np.uint64).view(np.uint8))
