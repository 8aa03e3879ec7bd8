"""Does a stream draw PyTorch's numbers?

`RECORDED` was printed by PyTorch 2.13 on a processor with AVX2. Where PyTorch is installed, far more is
compared.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from glasstorch.core.dtype import DTYPES
from glasstorch.core.errors import DtypeNotImplementedError
from glasstorch.core.random import draws
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.draws import Stream
from tests.core.random.torch_numbers import BFLOAT16, FLOATS, refusal, same_bits, stream, torch_dtype, torch_module

EVERY = [d.numpy for d in DTYPES]

# seed, what is drawn, PyTorch's numbers
RECORDED: list[tuple[int, Callable[[Stream], np.ndarray], list[float]]] = [
    (
        0,
        lambda g: g.uniform(4, "float32"),
        [0.49625658988952637, 0.7682217955589294, 0.08847743272781372, 0.13203048706054688],
    ),
    (0, lambda g: g.uniform(3, "float64"), [0.9700530018065531, 0.707819864399788, 0.45938294312745087]),
    (
        0,
        lambda g: g.uniform((2, 2), "float16").reshape(-1),
        [0.496337890625, 0.76806640625, 0.0885009765625, 0.132080078125],
    ),
    (0, lambda g: g.uniform(4, BFLOAT16), [0.49609375, 0.76953125, 0.08837890625, 0.1318359375]),
    (
        1,
        lambda g: g.uniform(4, "float32", 0.1, 0.2),
        [0.17576315999031067, 0.12793108820915222, 0.14030693471431732, 0.1734684556722641],
    ),
    (
        1,
        lambda g: g.uniform(3, "float64", 0.1, 0.2),
        [0.10610532747196237, 0.12245545065676505, 0.12342525139448395],
    ),
    (2, lambda g: g.permutation(12), [0, 9, 3, 2, 10, 5, 6, 7, 8, 1, 4, 11]),
    (2, lambda g: g.integers(8, "int64", 0, 10), [8, 7, 1, 4, 8, 9, 2, 5]),
    (2, lambda g: g.integers(2, "int64", -(2**62), 2**62), [3431000368545368591, -4133431523297102264]),
    (2, lambda g: g.all_integers(2, "int64"), [8042686386972756495, 478254495130285640]),
    (2, lambda g: g.all_integers(4, "uint8"), [168, 15, 237, 72]),
    (2, lambda g: g.all_integers(6, "bool"), [False, True, True, False, False, True]),
    (2, lambda g: g.all_integers(2, "float32"), [10312761.0, 6392288.0]),
    (3, lambda g: g.bernoulli(8, "float32", 0.3), [1, 1, 0, 1, 0, 0, 1, 0]),
    (3, lambda g: g.bernoulli(8, "float32", np.full(8, 0.3, "float32")), [1, 1, 1, 1, 0, 1, 0, 0]),
    (4, lambda g: g.normal(3, "float32"), [-1.605276346206665, 0.23248571157455444, 2.239870071411133]),
    (
        4,
        lambda g: g.normal(3, "float32", 0.3, 1.7),
        [-2.428969621658325, 0.695225715637207, 4.107779026031494],
    ),
    (
        4,
        lambda g: g.normal(17, "float32")[-4:],
        [0.8488364815711975, -0.6775758862495422, -0.9445412158966064, 2.1698336601257324],
    ),
    (
        4,
        lambda g: g.normal(17, BFLOAT16)[-4:],
        [-0.421875, 0.84765625, -0.67578125, -0.9453125],
    ),
]


@pytest.mark.parametrize("case", range(len(RECORDED)))
def test_draws_the_recorded_numbers(case: int) -> None:
    seed, draw, expected = RECORDED[case]
    drawn = draw(stream(seed))
    assert drawn.astype(np.asarray(expected).dtype).tolist() == expected


def test_float64_normal_numbers_are_the_recorded_ones() -> None:
    recorded = [
        0.8870365003585629, -1.5519664199748995, 0.1539401225893926, 1.5151769775589456, -2.058569001635271,
        1.265489132172597, -0.9792548150104079, -0.9039190594027657, 0.7140953845644266, 0.47155256084463903,
        0.3079970704859296, -1.854498169297568, 1.30376142464101, 0.03642189184629071, -0.3108186393571072,
        1.426027688842235,
    ]  # fmt: skip
    drawn = stream(4).normal(16, "float64")
    np.testing.assert_array_max_ulp(drawn, np.array(recorded), 2)  # of the C library, which PyTorch calls too


def test_second_number_of_a_pair_waits_for_the_next_call() -> None:
    together = stream(4).normal(6, "float64")
    apart = stream(4)
    parts = [apart.normal(n, "float64") for n in (1, 0, 2, 3)]
    assert np.concatenate(parts).tolist() == together.tolist()
    apart.start(4)
    apart.normal(1, "float64")
    apart.start(4)  # seeding forgets it
    assert apart.normal(1, "float64") == together[0]


def test_a_tensor_that_is_not_contiguous_gets_its_normal_numbers_one_by_one() -> None:
    drawn = stream(4).normal(32, "float32", contiguous=False)
    assert drawn[0] == np.float32(-1.605276346206665)
    assert drawn[4] == np.float32(1.2006442546844482)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("count", [1, 15, 16, 100, 2 * draws.BLOCK + 5])
@pytest.mark.parametrize("bounds", [(0, 1), (-0.1, 0.1), (0.1, 0.2), (-3, 1000), (0, 5), (1000, 1000.1), (2, 2)])
def test_uniform_is_torch_s(dtype: Any, count: int, bounds: tuple[float, float]) -> None:
    torch = torch_module()
    torch.manual_seed(count)
    theirs = torch.empty(count, dtype=torch_dtype(dtype)).uniform_(*bounds)
    assert same_bits(stream(count).uniform(count, dtype, *bounds), theirs)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 40000])
@pytest.mark.parametrize("moments", [(0.0, 1.0), (0.3, 1.7), (0.0, 0.0)])
def test_normal_is_torch_s(dtype: Any, count: int, moments: tuple[float, float]) -> None:
    torch = torch_module()
    ours = stream(count)
    torch.manual_seed(count)
    for _ in range(3):
        theirs = torch.empty(count, dtype=torch_dtype(dtype)).normal_(*moments)
        drawn = ours.normal(count, dtype, *moments)
        assert same_bits(drawn, theirs)
    assert same_bits(ours.uniform(5, "float32"), torch.rand(5))  # both have used up as many words


INTEGER_BOUNDS = [
    (0, 1), (0, 10), (-5, 5), (0, 100), (5, None), (0, 2**28 - 1), (0, 2**28), (0, 2**33), (-(2**62), 2**62),
    (-(2**63), 2**63 - 1), (-(2**63), None), (0, 256), (0, 300), (0, 65504), (0, 65505), (0, 2049), (3, 3),
    (0, 2**24 + 3), (-(2**24) - 3, 5), (2**25 + 1, 2**25 + 2), (5000, 5003), (255, 600), (4, 3),
    (0, 2**63 - 1), (2**24, None), (2**53, None),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*out of bounds.*:UserWarning")
@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_integers_are_torch_s_and_so_are_the_bounds_refused(dtype: Any) -> None:
    torch = torch_module()
    for low, high in INTEGER_BOUNDS:
        torch.manual_seed(9)
        ours = stream(9)
        theirs, refused = refusal(lambda: torch.empty(50, dtype=torch_dtype(dtype)).random_(low, high))  # noqa: B023
        if refused is None:
            assert same_bits(ours.integers(50, dtype, low, high), theirs), (low, high)
        else:
            with pytest.raises(type(refused)):
                ours.integers(50, dtype, low, high)


@pytest.mark.parametrize("dtype", EVERY, ids=str)
def test_integers_without_bounds_are_torch_s(dtype: Any) -> None:
    torch = torch_module()
    torch.manual_seed(9)
    theirs, refused = refusal(lambda: torch.empty(50, dtype=torch_dtype(dtype)).random_())
    if refused is None:
        assert same_bits(stream(9).all_integers(50, dtype), theirs)
    else:
        with pytest.raises(DtypeNotImplementedError) as ours:
            stream().all_integers(50, dtype)
        assert str(ours.value).startswith(str(refused))
        assert stream().all_integers(0, dtype).shape == (0,)


def test_bounds_beyond_the_integers_that_a_float_holds_without_gaps_are_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"^to - 1 is out of bounds \[-\(2\^24\), 2\^24\]"):
        stream().integers(3, "float32", 0, 2**40)
    with pytest.warns(UserWarning, match=r"^from is out of bounds \[-\(2\^11\), 2\^11\]"):
        stream().integers(3, "float16", -3000, 5)
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        stream().integers(3, "int64", 0, 2**64)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 1000, 100_000])
@pytest.mark.parametrize("dtype", ["int64", "int32", "float32", BFLOAT16], ids=str)
def test_permutation_is_torch_s(count: int, dtype: Any) -> None:
    torch = torch_module()
    torch.manual_seed(count)
    theirs = torch.randperm(count, dtype=torch_dtype(dtype))
    assert same_bits(stream(count).permutation(count, dtype), theirs)


def test_very_long_permutations_draw_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 3 * draws.BLOCK // 2
    monkeypatch.setattr(draws, "WIDE_PERMUTATION", count)
    drawn = stream(1).permutation(count)
    expected = np.zeros(count, np.int64)
    for i, word in enumerate(stream(1)._get_engine().double_words(count).tolist()):
        place = word % (i + 1)
        expected[i] = expected[place]
        expected[place] = i
    assert np.array_equal(drawn, expected)
    assert np.array_equal(np.sort(drawn), np.arange(count))


def test_bernoulli_broadcasts_and_checks_its_probabilities() -> None:
    drawn = stream().bernoulli((2, 3), "bool", np.array([0.0, 1.0, 0.0]))
    assert drawn.tolist() == [[False, True, False]] * 2
    for wrong in (1.5, -0.1, float("nan"), np.array([0.5, 2.0])):
        with pytest.raises(RandomNumberError, match=r"expects (all of )?p to be in \[0, 1\]"):
            stream().bernoulli(2, "float32", wrong)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda g: g.uniform(1, "float32", 1, 0), RandomNumberError, "from=1 > to=0"),
        (lambda g: g.uniform(1, "float32", 0, 1e39), RandomNumberError, "to is out of bounds for float32"),
        (lambda g: g.uniform(1, "float16", -60000, 60000), RandomNumberError, "exceed the limit"),
        (lambda g: g.uniform(1, "int64"), DtypeNotImplementedError, "not implemented for 'Long'"),
        (lambda g: g.normal(1, "float32", 0, -1), RandomNumberError, "std >= 0.0, but found std -1"),
        (lambda g: g.normal(1, "bool"), DtypeNotImplementedError, "not implemented for 'Bool'"),
        (lambda g: g.integers(1, "int64", 5, 5), RandomNumberError, "from=5 >= to=5"),
        (
            lambda g: g.integers(1, "uint8", 0, 300),
            RandomNumberError,
            "to - 1 is out of bounds for uint8: got 299",
        ),
        (lambda g: g.permutation(-1), RandomNumberError, "non-negative, got -1"),
        (
            lambda g: g.permutation(2050, "float16"),
            RandomNumberError,
            "greater than 2049 for float16, got 2050",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_values(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        call(stream())
