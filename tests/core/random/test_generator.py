"""Can a stream be set to a seed and to a state, PyTorch's too?"""

import copy
import gc
import pickle
import threading
import weakref
from typing import Any

import numpy as np
import pytest

from glasstorch.core.device import CPU
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.generator import Generator, default_generator, manual_seed
from glasstorch.core.random.mersenne_stream import DEFAULT_SEED
from tests.core.random.torch_numbers import same_bits, torch_module


@pytest.mark.parametrize("seed", [0, 5, -1, -(2**63), 2**32, 2**40 + 3, 2**64 - 1])
def test_every_64_bit_seed_is_taken_as_torch_takes_it(seed: int) -> None:
    torch = torch_module()
    torch.manual_seed(seed)
    ours = Generator().manual_seed(seed)
    assert ours.initial_seed() == torch.initial_seed()
    assert same_bits(ours.stream.uniform(9, "float32"), torch.rand(9))


@pytest.mark.parametrize("drawn", [0, 1, 623, 624, 625, 3000])
def test_state_is_torch_s_byte_for_byte(drawn: int) -> None:
    torch = torch_module()
    theirs = torch.Generator().manual_seed(7)
    ours = Generator().manual_seed(7)
    for _ in range(2):
        assert np.array_equal(ours.stream.state_bytes(), theirs.get_state().numpy())
        torch.rand(drawn, generator=theirs)
        ours.stream.uniform(drawn, "float32")
        assert np.array_equal(ours.stream.state_bytes(), theirs.get_state().numpy())
        torch.randn(3, generator=theirs)
        ours.stream.normal(3, "float32")
    resumed = Generator()
    resumed.stream.load_state_bytes(theirs.get_state().numpy())
    assert same_bits(resumed.stream.normal(5, "float32"), torch.randn(5, generator=theirs))


def test_state_brings_back_the_stream() -> None:
    g = Generator().manual_seed(11)
    for warm_up in (0, 3, 624, 1000):
        g.stream.normal(3, "float32")
        g.stream.uniform(warm_up, "float32")
        state = g.stream.state_bytes()
        twin = g.clone_state()
        expected = [g.stream.normal(3, "float32"), g.stream.uniform(1000, "float64"), g.stream.permutation(10)]
        g.stream.load_state_bytes(state)
        for source in (g, twin):
            again = [
                source.stream.normal(3, "float32"),
                source.stream.uniform(1000, "float64"),
                source.stream.permutation(10),
            ]
            assert all(np.array_equal(a, b) for a, b in zip(expected, again, strict=True))
        assert twin.initial_seed() == 11


def test_a_state_that_cannot_be_one_is_refused() -> None:
    g = Generator()
    good = g.stream.state_bytes()
    with pytest.raises(RandomNumberError, match=r"of size 5056 but found .* 100"):
        g.stream.load_state_bytes(good[:100])
    with pytest.raises(RandomNumberError, match="Invalid mt19937 state: seeded is 0, left 0, next 0"):
        g.stream.load_state_bytes(np.zeros_like(good))


def test_seeds_that_are_not_64_bit_integers_are_refused() -> None:
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match=r"must lie in \[-2\*\*63, 2\*\*64\)"):
            Generator().manual_seed(seed)
    for seed, name in ((1.5, "float"), (True, "bool"), ("3", "str")):
        with pytest.raises(RuntimeError, match=f"manual_seed expected a long, but got {name}"):
            Generator().manual_seed(seed)  # type: ignore[arg-type]


def test_default_generator_starts_like_torch_s() -> None:
    assert Generator().initial_seed() == DEFAULT_SEED == 67280421310721
    state = default_generator.stream.state_bytes()
    try:
        assert manual_seed("3") is default_generator  # type: ignore[arg-type]
        assert default_generator.initial_seed() == 3
        picked = default_generator.seed()
        assert 0 <= picked < 2**64
        assert picked == default_generator.initial_seed()
    finally:
        default_generator.stream.load_state_bytes(state)


def test_a_generator_can_be_referred_to_weakly(torch: Any) -> None:
    g = torch.Generator()
    reference = weakref.ref(g)
    assert reference() is g
    del g
    gc.collect()
    assert reference() is None


def test_threads_share_the_stream_without_losing_a_word() -> None:
    expected = np.sort(Generator().manual_seed(1).stream.uniform(8 * 5000, "float32"))
    g = Generator().manual_seed(1)
    drawn: list[np.ndarray] = []
    threads = [
        threading.Thread(target=lambda: drawn.extend(g.stream.uniform(50, "float32") for _ in range(100)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(np.sort(np.concatenate(drawn)), expected)


def test_the_state_is_a_tensor_that_the_stream_goes_on_from(torch: Any) -> None:
    g = torch.Generator().manual_seed(3)
    torch.rand(2, generator=g)
    state = g.get_state()
    assert (state.dtype, tuple(state.shape)) == (torch.uint8, (5056,))
    drawn = torch.rand(3, generator=g)
    other = torch.Generator()
    assert other.set_state(state) is other
    assert torch.rand(3, generator=other).tolist() == drawn.tolist()


def test_only_a_row_of_bytes_in_main_memory_is_a_state(torch: Any) -> None:
    g = torch.Generator()
    twice = torch.cat([g.get_state(), g.get_state()])
    for wrong, error, words in (
        (3, TypeError, "expected a torch.ByteTensor, but got int"),
        (torch.zeros(3), TypeError, "RNG state must be a torch.ByteTensor"),
        (torch.empty(5056, dtype=torch.uint8, device="meta"), TypeError, "RNG state must be a torch.ByteTensor"),
        (torch.zeros(3, dtype=torch.uint8), RuntimeError, "of size 5056 but found the input RNG state size to be 3"),
        (twice[::2], RuntimeError, "RNG state must be contiguous"),
    ):
        with pytest.raises(error, match=words):
            g.set_state(wrong)


def test_a_pickled_and_a_copied_generator_go_on_by_themselves() -> None:
    g = Generator().manual_seed(5)
    g.stream.normal(3, "float32")
    twins = [pickle.loads(pickle.dumps(g)), copy.deepcopy(g)]
    expected = g.stream.normal(3, "float32").tolist()
    for twin in twins:
        assert twin.initial_seed() == 5
        assert twin.stream.normal(3, "float32").tolist() == expected


def test_devices_without_random_numbers_have_no_generator() -> None:
    assert Generator(None).device is Generator("cpu:1").device is CPU
    with pytest.raises(RuntimeError, match="no random numbers are made on device 'meta'"):
        Generator("meta")


def test_what_only_generators_of_devices_have_is_refused_in_torch_s_words() -> None:
    oracle = torch_module().Generator()
    g = Generator()
    for name, arguments in (
        ("get_offset", ()),
        ("set_offset", (3,)),
        ("graphsafe_get_state", ()),
        ("graphsafe_set_state", (oracle,)),
    ):
        with pytest.raises((RuntimeError, NotImplementedError)) as theirs:
            getattr(oracle, name)(*arguments)
        with pytest.raises(theirs.type) as ours:
            getattr(g, name)(*arguments)
        assert str(ours.value) == str(theirs.value)
    missing = {n for n in dir(oracle) if not n.startswith("_")} - set(dir(g))
    assert not missing
