"""Can a program set and keep the streams of CUDA devices?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import glasstorch as torch
from glasstorch.core import warn_once
from glasstorch.core.random import generator as generators
from glasstorch.devices import runtime
from tests.devices.devices import Devices


@pytest.fixture(autouse=True)
def streams(cuda: Devices, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Streams that are not made yet; the CPU's is as before after the test."""
    if cuda.driver.device_count() < 2:
        pytest.skip("these tests need two devices")
    monkeypatch.setattr(generators, "_of_devices", {})
    monkeypatch.setattr(generators, "_seed_for_all", None)
    monkeypatch.setattr(warn_once, "_given", set())
    state = torch.get_rng_state()
    yield
    torch.set_rng_state(state)


def draws(device: int = 0) -> list[float]:
    return torch.rand(3, device=f"cuda:{device}").tolist()


def test_a_seed_is_that_of_all_devices() -> None:
    torch.manual_seed(7)
    first = draws(0)
    assert draws(1) == first
    assert torch.cuda.initial_seed() == 7
    torch.cuda.manual_seed_all(7)
    assert [draws(0), draws(1)] == [first, first]


def test_one_device_can_be_seeded_alone() -> None:
    torch.cuda.manual_seed_all(1)
    expected = draws(1)
    torch.cuda.manual_seed_all(1)
    torch.cuda.manual_seed(2)
    assert draws(1) == expected
    assert draws(0) != expected
    assert [g.initial_seed() for g in torch.cuda.default_generators] == [2, 1]
    assert [g.initial_seed() for g in torch.cuda.default_generators[1:]] == [1]
    assert len(torch.cuda.default_generators) == 2


def test_without_a_seed_the_system_picks_one() -> None:
    first, second = (g.initial_seed() for g in torch.cuda.default_generators)
    assert first != second
    torch.cuda.seed()
    assert torch.cuda.initial_seed() != first
    torch.cuda.seed_all()
    assert torch.cuda.default_generators[0].initial_seed() == torch.cuda.default_generators[1].initial_seed()
    assert torch.seed() == torch.cuda.initial_seed() == torch.initial_seed()


def test_the_streams_go_on_from_their_states() -> None:
    torch.cuda.manual_seed_all(4)
    draws()
    state, states = torch.cuda.get_rng_state(), torch.cuda.get_rng_state_all()
    assert (state.dtype, state.tolist()) == (torch.uint8, [4] + [0] * 7 + [4] + [0] * 7)
    assert [s.tolist()[8] for s in states] == [4, 0]
    expected = [draws(0), draws(1)]
    torch.cuda.set_rng_state_all(states)
    assert [draws(0), draws(1)] == expected
    torch.cuda.set_rng_state(state, "cuda:1")
    assert draws(1) == expected[0]


def test_a_fork_is_forgotten_on_the_devices_too() -> None:
    torch.manual_seed(1)
    with torch.random.fork_rng([0, 1]):
        inside = [torch.rand(1).tolist(), draws(0), draws(1)]
    assert [torch.rand(1).tolist(), draws(0), draws(1)] == inside
    with torch.random.fork_rng([1]):
        inside = [draws(0), draws(1)]
    assert draws(1) == inside[1]
    assert draws(0) != inside[0]
    with pytest.warns(UserWarning, match="CUDA reports that you have 2 available devices"), torch.random.fork_rng():
        inside = [draws(0), draws(1)]
    assert [draws(0), draws(1)] == inside


def test_a_seed_is_kept_for_devices_that_may_come(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as absent:
        absent.setattr(runtime, "is_available", lambda: False)
        torch.cuda.manual_seed(9)
        torch.cuda.seed()
    assert torch.cuda.initial_seed() == 9
