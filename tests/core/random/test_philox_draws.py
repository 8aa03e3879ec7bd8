"""Does a device's stream draw the numbers that PyTorch draws on a card?

`RECORDED` is what cards printed, in public issues of PyTorch and in tests of other projects; no card is needed here.
How the bits are dealt to threads is compared with a loop over all elements, `dealt`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch.core.dtype import DTYPES
from glasstorch.core.errors import DtypeNotImplementedError
from glasstorch.core.random import philox_draws
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.philox import PhiloxStream, philox
from glasstorch.core.random.philox_draws import BLOCK_SIZE, Draws, key_bits


def on_card(seed: int, multi_processors: int = 132, threads: int = 2048) -> Draws:
    """The stream of a seed on a card with so many multiprocessors, of so many threads each."""
    return Draws(PhiloxStream(seed), multi_processors * (threads // BLOCK_SIZE) * BLOCK_SIZE)


def twice(draw: Callable[[Draws], np.ndarray]) -> Callable[[Draws], np.ndarray]:
    """What the second call gives."""
    return lambda card: (draw(card), draw(card))[1]


# The card's stream, what is drawn, which elements were printed, and what was.
RECORDED = [
    # torch.manual_seed(0); torch.rand(n, device="cuda"), pytorch/pytorch#47347 among others, and once more
    (
        on_card(0),
        lambda g: g.uniform(12, "float32"),
        slice(None),
        [0.3990, 0.5167, 0.0249, 0.9401, 0.9459, 0.7967, 0.4150, 0.8203, 0.2290, 0.9096, 0.1183, 0.0752],
    ),
    (
        on_card(0),
        twice(lambda g: g.uniform(10, "float32")),
        slice(None),
        [0.9722, 0.7910, 0.4690, 0.3300, 0.3345, 0.3783, 0.7640, 0.6405, 0.1103, 0.3594],
    ),
    # torch.manual_seed(0); torch.randn(..., device="cuda")
    (
        on_card(0),
        lambda g: g.normal(24, "float32"),
        slice(None),
        [-0.9247, -0.4253, -2.6438, 0.1452, -0.1209, -0.5797, -0.6229, -0.3284, -1.0745, -0.3631, -1.6711, 2.2655]
        + [0.3117, -0.1842, 1.2866, 1.1820, -0.1271, 1.2169, 1.4353, 1.0605, -0.4941, -1.4244, -0.7244, -1.2973],
    ),
    # torch.manual_seed(10); torch.randn(3, device="cuda"), pytorch/pytorch#79496
    (on_card(10), lambda g: g.normal(3, "float32"), slice(None), [-0.1029, 1.6810, -0.2708]),
    # torch.manual_seed(14); FloatTensor(1000, 100).normal_(5, 5**.5) on an RTX A4000, pytorch/pytorch#97097: more
    # elements than threads, so that the second number of each call is used too
    (
        on_card(14, 48, 1536),
        lambda g: g.normal(100_000, "float32", 5, 5**0.5),
        [0, 1, 2, -300, -299, -298, -203, -202, -201, -100, -99, -98, -3, -2, -1],
        [2.8731, 5.2727, 2.9889, 8.6297, 2.3137, 6.2596, 7.9358, 4.4697, 2.7475, 2.7337, 2.2106, 7.7815]
        + [8.2207, 6.5395, 4.2604],
    ),
]
# torch.randn(1, 49 * 12 * 112 * 144) of seed 1 on an H100 and on an A100, pytorch/pytorch#143086: all four numbers of
# many calls.
LONG = 49 * 12 * 112 * 144
RECORDED_LONG = [
    (132, [-0.2963, 2.6764, -0.1408, -0.6970, -0.7780, 0.3267]),
    (108, [-0.2963, 2.6764, -0.1408, 0.1549, -0.6797, -0.1656]),
]


@pytest.mark.parametrize("case", range(len(RECORDED)))
def test_draws_what_cards_printed(case: int) -> None:
    card, draw, where, expected = RECORDED[case]
    card.stream.start(card.stream.first_seed)
    np.testing.assert_allclose(draw(card)[where], expected, rtol=0, atol=0.51e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("multi_processors", "expected"), RECORDED_LONG)
def test_draws_what_cards_printed_of_a_long_tensor(multi_processors: int, expected: list[float]) -> None:
    drawn = on_card(1, multi_processors).normal(LONG, "float32")
    np.testing.assert_allclose(drawn[[0, 1, 2, -3, -2, -1]], expected, rtol=0, atol=0.51e-4)


def dealt(count: int, per_call: int, most_threads: int, offset: int = 0) -> list[list[int]]:
    """The words that each element gets, as the loop of a kernel deals them: one word of four, or two."""
    threads = min(math.ceil(count / BLOCK_SIZE) * BLOCK_SIZE, most_threads)
    words = {}
    for thread in range(threads):
        for call, start in enumerate(range(thread, count, threads * per_call)):
            counter = np.array([offset // 4 + call], np.uint64)
            four = philox(3, counter, np.array([thread], np.uint64))[:, 0].tolist()
            for lane in range(per_call):
                if start + lane * threads < count:
                    size = 4 // per_call
                    words[start + lane * threads] = four[lane * size : (lane + 1) * size]
    return [words[i] for i in range(count)]


@pytest.mark.parametrize("count", [1, 256, 257, 1025, 2049])
def test_words_are_dealt_as_a_kernel_deals_them(count: int) -> None:
    card = Draws(PhiloxStream(3), 2 * BLOCK_SIZE)
    assert card.words(count).tolist() == [word for [word] in dealt(count, 4, 2 * BLOCK_SIZE)]
    offset = card.stream.get_offset()
    assert offset == 4 * math.ceil(count / (min(math.ceil(count / 256), 2) * 256 * 4))
    high_and_low = dealt(count, 2, 2 * BLOCK_SIZE, offset)
    assert card.double_words(count).tolist() == [high << 32 | low for high, low in high_and_low]


def test_doubles_take_53_bits() -> None:
    card = on_card(3)
    low, high = dealt(1, 2, BLOCK_SIZE)[0]
    mixed = low ^ high << 21
    assert card.uniform(1, "float64").tolist() == [mixed * 2.0**-53 + 2.0**-54]
    first, second = on_card(3).unit(300 * 1000, np.dtype("float64"))[[0, 132 * 2048]]  # two numbers of one call
    four = philox(3, np.zeros(1, np.uint64), np.zeros(1, np.uint64))[:, 0].tolist()
    assert first == (four[0] ^ four[1] << 21) * 2.0**-53 + 2.0**-54
    assert second == (four[2] ^ four[3] << 21) * 2.0**-53 + 2.0**-54


def test_numbers_have_the_moments_of_their_distributions() -> None:
    count = 100_000
    for dtype in ("float32", "float64"):
        card = on_card(1)
        normal = card.normal(count, dtype, 2.0, 3.0)
        assert abs(normal.mean() - 2) < 0.05
        assert abs(normal.std() - 3) < 0.05
        assert abs(card.exponential(count, dtype, 0.5).mean() - 2) < 0.05
        assert abs(np.median(card.cauchy(count, dtype, 1.0, 2.0)) - 1) < 0.05
        assert abs(np.log(card.log_normal(count, dtype, 1.0, 0.5)).mean() - 1) < 0.05
        assert abs(card.geometric(count, dtype, 0.25).mean() - 4) < 0.1
        assert abs(card.bernoulli(count, dtype, 0.3).mean() - 0.3) < 0.01
        uniform = card.uniform(count, dtype, -1.0, 1.0)
        assert -1 <= uniform.min() < -0.999
        assert 0.999 < uniform.max() < 1
    assert set(on_card(1).integers(1000, "int64", -2, 3).tolist()) == {-2, -1, 0, 1, 2}


def test_probabilities_of_each_element_are_those_of_a_thread_for_four() -> None:
    chances = np.linspace(0, 1, 11, dtype=np.float32)
    card = on_card(3)
    drawn = card.bernoulli_each("int64", chances)
    words = np.concatenate([philox(3, np.zeros(1, np.uint64), np.array([t], np.uint64))[:, 0] for t in range(3)])[:11]
    assert drawn.tolist() == (words.astype(np.float32) * np.float32(2**-32) + np.float32(2**-33) <= chances).tolist()
    assert card.stream.get_offset() == 12
    with pytest.raises(RandomNumberError, match="expected probabilities tensor to have floating type, got int64"):
        card.bernoulli_each("float32", np.zeros(2, np.int64))
    with pytest.raises(RandomNumberError, match=r"all of p to be in \[0, 1\]"):
        card.bernoulli_each("float32", np.array([2.0]))


def test_a_permutation_is_sorted_by_random_keys() -> None:
    card = on_card(3)
    drawn = card.permutation(2000)
    assert sorted(drawn.tolist()) == list(range(2000))
    keys = on_card(3).integers(2000, "int32", -(2**31), 2**31 - 1)
    masked = keys.astype(np.int64) & (1 << key_bits(2000)) - 1
    assert np.array_equal(masked[drawn], np.sort(masked))
    assert card.stream.get_offset() == 4 + 2000
    assert card.permutation(0).tolist() == []
    assert sorted(card.permutation(40_000, "int32").tolist()) == list(range(40_000))  # with keys of 64 bits


def test_equal_keys_are_shuffled_by_the_thread_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(philox_draws, "key_bits", lambda n: 3)
    n = 50
    drawn = on_card(3).permutation(n).tolist()
    keys = (on_card(3).integers(n, "int32", -(2**31), 2**31 - 1) & 7).tolist()
    expected = sorted(range(n), key=lambda i: keys[i])
    for first in range(n):
        key = keys[expected[first]]
        if first and keys[expected[first - 1]] == key:
            continue
        size = sum(k == key for k in keys)
        counters = np.arange(1, 2 + size // 4, dtype=np.uint64)  # the keys used up one call
        words = philox(3, counters, np.full_like(counters, first)).T.reshape(-1).tolist()
        for i, word in zip(range(size - 1, 0, -1), words, strict=False):
            a, b = first + i, first + word % (i + 1)
            expected[a], expected[b] = expected[b], expected[a]
    assert drawn == expected


@pytest.mark.parametrize("dtype", [d.numpy for d in DTYPES], ids=str)
def test_a_dtype_is_drawn_in_or_refused(dtype: Any) -> None:
    card = on_card(1)
    floating, counting = dtype.name in ("float16", "bfloat16", "float32", "float64"), dtype.kind in "iu"
    whole = floating or (counting and dtype.name not in ("uint16", "uint32", "uint64"))
    for draw, accepted in (
        (lambda n: card.uniform(n, dtype), floating),
        (lambda n: card.normal(n, dtype), floating),
        (lambda n: card.exponential(n, dtype), floating),
        (lambda n: card.cauchy(n, dtype), floating),
        (lambda n: card.log_normal(n, dtype), floating),
        (lambda n: card.geometric(n, dtype, 0.5), whole),
        (lambda n: card.bernoulli(n, dtype, 0.5), whole or dtype.name == "bool"),
        (lambda n: card.integers(n, dtype, 0, 2), floating or counting or dtype.name == "bool"),
        (lambda n: card.all_integers(n, dtype), whole or dtype.name == "bool"),
        (lambda n: card.permutation(n, dtype), whole),
    ):
        if accepted:
            assert draw(5).dtype == dtype
        else:
            with pytest.raises((DtypeNotImplementedError, RandomNumberError)):
                draw(5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda g: g.uniform(1, "float32", 1, 0), "from=1 > to=0"),
        (lambda g: g.normal(1, "float32", 0, -1), "std >= 0.0, but found std -1"),
        (lambda g: g.log_normal(1, "float32", 0, 0), "std > 0.0, but found std=0"),
        (lambda g: g.exponential(1, "float32", 0), "lambda > 0.0, but found lambda=0"),
        (lambda g: g.cauchy(1, "float32", 0, 0), "sigma > 0.0, but found sigma=0"),
        (lambda g: g.cauchy(0, "int64"), "must be a floating point but you specified int64"),
        (lambda g: g.geometric(1, "float32", 1), r"in \(0, 1\), but got p=1"),
        (lambda g: g.bernoulli(1, "float32", 2), r"in \[0, 1\], but got p=2"),
        (lambda g: g.integers(1, "int64", 2, 2), "from=2 >= to=2"),
        (lambda g: g.permutation(-1), "non-negative, got -1"),
        (lambda g: g.permutation(2050, "float16"), "greater than 2049 for float16, got 2050"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Any, words: str) -> None:
    with pytest.raises(RandomNumberError, match=words):
        call(on_card(0))


def test_counts_beyond_an_integer_are_the_largest() -> None:
    card = on_card(0)
    assert set(card.geometric(5, "int32", 1e-30).tolist()) == {2**31 - 1}
    assert set(card.geometric(5, "int64", 1e-30).tolist()) == {2**63 - 1}
    assert card.geometric(0, "complex64", 0.5).shape == (0,)


class Ones(Draws):
    """A stream whose words make uniform numbers of (0, 1] as large as they can be: 1."""

    def calls(self, count: int, numbers_of_call: int) -> np.ndarray:
        words = np.full((4, -(-count // numbers_of_call), 1), 0xFFFFFFFF, np.uint64)
        if numbers_of_call == 2:
            words[0::2] = 0x1FFFFF  # the rest of these words is taken from the ones that follow
        return words


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_number_one_is_drawn_as_a_bound_that_is_open(dtype: str) -> None:
    ones = Ones(PhiloxStream(0), BLOCK_SIZE)
    assert ones.uniform(3, dtype).tolist() == [0, 0, 0]
    assert ones.uniform(2, dtype, -2, 5).tolist() == [-2, -2]
    step = float(np.finfo(dtype).eps) / 2
    assert ones.exponential(2, dtype).tolist() == [step, step]  # never 0
    assert np.isfinite(ones.cauchy(2, dtype)).all()
    if dtype == "float32":
        assert 0 < ones.cauchy(1, dtype)[0] == np.tan(np.float32(np.pi) * np.float32(0.5 - 2 * step))


def test_a_probability_of_one_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(philox_draws, "philox", lambda seed, counter, thread: Ones.calls(None, 1, 1)[:, 0])  # type: ignore[arg-type]
    assert on_card(0).bernoulli_each("float32", np.array([1, 0.5], np.float32)).tolist() == [1, 0]


def test_keys_of_all_bits_are_signed() -> None:
    n = 29_000
    assert key_bits(n) == 32
    keys = on_card(3).integers(n, "int32", -(2**31), 2**31 - 1)
    assert np.array_equal(keys[on_card(3).permutation(n)], np.sort(keys))


def test_normal_doubles_are_a_sine_and_a_cosine() -> None:
    count = 132 * 2048 + 1  # the last element is the second number of the first thread
    drawn = on_card(3).normal(count, "float64")
    x, y, z, w = philox(3, np.zeros(1, np.uint64), np.zeros(1, np.uint64))[:, 0].tolist()
    radius = math.sqrt(-2 * math.log((x ^ y << 21) * 2.0**-53 + 2.0**-54))
    angle = math.pi * ((z ^ w << 21) * 2.0**-52 + 2.0**-53)
    assert drawn[0] == pytest.approx(radius * math.sin(angle), rel=1e-14)
    assert drawn[-1] == pytest.approx(radius * math.cos(angle), rel=1e-14)
