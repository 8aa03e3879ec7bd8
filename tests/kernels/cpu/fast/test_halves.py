"""Do the tables of float16 give the bits that NumPy gives, for each number?"""

from __future__ import annotations

import numpy as np

from glasstorch.kernels.cpu.fast.halves import are_rows, every_value, narrow, widen, widened
from glasstorch.kernels.quiet import quietly

EVERY = every_value(np.dtype(np.float16))
RANDOM = np.random.default_rng(0)


def as_numpy(data: np.ndarray) -> np.ndarray:
    """The bits of float32 as float16, by NumPy."""
    return quietly(data.astype, np.float16).view(np.uint16)


def narrowed(data: np.ndarray) -> np.ndarray:
    found = np.empty(data.shape, np.float16)
    narrow(found, data)
    return found.view(np.uint16)


def test_every_half_is_widened_to_the_bits_of_numpy() -> None:
    found = np.empty(EVERY.shape, np.float32)
    widen(found, EVERY)
    np.testing.assert_array_equal(found.view(np.uint32), EVERY.astype(np.float32).view(np.uint32))


def test_ties_and_their_neighbours_are_narrowed_to_the_bits_of_numpy() -> None:
    finite = np.sort(widened()[np.isfinite(widened())])
    ties = (finite[1:] + finite[:-1]) / 2  # exact: float32 has the digits
    beside = [np.nextafter(ties, np.float32(to)) for to in (-np.inf, np.inf)]
    data = np.concatenate([finite, ties, *beside])
    np.testing.assert_array_equal(narrowed(data), as_numpy(data))


def test_numbers_of_all_sizes_are_narrowed_to_the_bits_of_numpy() -> None:
    edges = [
        65519.99,
        65520,
        65535.99,
        65536,
        3e38,
        np.inf,
        0.0,
        1e-45,
        2.0**-25,
        2.0**-24,
        np.float32(2.0**-25) * 1.01,
    ]
    bits = RANDOM.integers(0, 1 << 32, 1 << 17, dtype=np.uint32).view(np.float32)
    data = np.concatenate([np.array(edges, np.float32), -np.array(edges, np.float32), bits[~np.isnan(bits)]])
    np.testing.assert_array_equal(narrowed(data), as_numpy(data))


def test_nan_keeps_the_bits_that_numpy_keeps() -> None:
    edges = [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7F801FFF, 0x7F802000, 0x7FFFFFFF, 0xFFFFFFFF]
    some = RANDOM.integers(0x7F800001, 0x80000000, 1000)
    data = np.concatenate([edges, some, some + (1 << 31)]).astype(np.uint32).view(np.float32)
    assert np.isnan(data).all()
    np.testing.assert_array_equal(narrowed(data), as_numpy(data))


def test_rows_are_of_one_shape_and_share_no_memory() -> None:
    x = np.zeros((4, 6), np.float16)
    number = np.zeros((), np.float32)
    assert are_rows(x, [x, x.copy(), number], x.dtype)
    assert not are_rows(x, [x.T], x.dtype)
    assert not are_rows(x[:2], [x[1:3]], x.dtype)
    assert not are_rows(x, [x[0]], x.dtype)
    assert not are_rows(x, [x.astype(np.float32)], x.dtype)
    assert not are_rows(x[:, :3], [x[:, 3:]], x.dtype)
