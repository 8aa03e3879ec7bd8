"""Can a program keep the stream of random numbers and go back in it?"""

from collections.abc import Iterator

import pytest

import glasstorch as torch
from glasstorch import random


@pytest.fixture(autouse=True)
def stream() -> Iterator[None]:
    with random.fork_rng():
        yield


def test_the_stream_goes_on_from_a_state() -> None:
    random.manual_seed(3)
    torch.randn(3)
    state = random.get_rng_state()
    assert state.dtype == torch.uint8
    assert state.shape == (5056,)
    expected = torch.rand(5).tolist()
    random.set_rng_state(state)
    assert torch.rand(5).tolist() == expected


def test_states_can_be_exchanged_with_torch() -> None:
    oracle = pytest.importorskip("torch")
    oracle.manual_seed(8)
    oracle.rand(700)
    random.set_rng_state(torch.from_numpy(oracle.get_rng_state().numpy()))
    assert torch.rand(5).tolist() == oracle.rand(5).tolist()
    oracle.set_rng_state(oracle.from_numpy(random.get_rng_state().numpy()))
    assert torch.rand(5).tolist() == oracle.rand(5).tolist()


def test_a_fork_is_forgotten() -> None:
    random.manual_seed(1)
    with random.fork_rng():
        inside = torch.rand(4).tolist()
    assert torch.rand(4).tolist() == inside
    for options in ({"enabled": False}, {"device_type": "meta"}):
        random.manual_seed(1)
        with random.fork_rng(**options):
            torch.rand(4)
        assert torch.rand(4).tolist() != inside


def test_a_fork_is_forgotten_after_an_error_too() -> None:
    random.manual_seed(1)
    with pytest.raises(KeyError), random.fork_rng([]):
        raise KeyError(torch.rand(4))
    after = torch.rand(4).tolist()
    random.manual_seed(1)
    assert torch.rand(4).tolist() == after


def test_a_fork_looks_whether_the_devices_are_there() -> None:
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"), random.fork_rng([0], device_type="nowhere"):
        pass
    with random.fork_rng(["cpu"]):
        pass


def test_the_seed_can_be_asked_for_and_picked() -> None:
    random.manual_seed(12)
    assert random.initial_seed() == 12
    picked = random.seed()
    assert picked == random.initial_seed()
    first = torch.rand(3).tolist()
    random.manual_seed(picked)
    assert torch.rand(3).tolist() == first
