"""Does a CUDA device draw the numbers that PyTorch draws there, into the right places?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.errors import DeviceError, OverlapError
from glasstorch.core.random.generator import default_generator_of
from glasstorch.core.random.philox import PhiloxStream
from glasstorch.core.random.philox_draws import Draws
from glasstorch.random import fork_rng
from tests.devices.devices import Devices

FEW = 1 << 12  # no more elements than threads on any device


@pytest.fixture(autouse=True)
def stream(cuda: Devices) -> Iterator[None]:
    with fork_rng([cuda.device]):
        yield


def card(seed: int) -> Draws:
    return Draws(PhiloxStream(seed), FEW)


def test_a_seed_gives_what_cards_print(cuda: Devices) -> None:
    glasstorch.manual_seed(0)
    printed = [0.3990, 0.5167, 0.0249, 0.9401, 0.9459, 0.7967, 0.4150, 0.8203]
    np.testing.assert_allclose(glasstorch.rand(8, device=cuda.device).tolist(), printed, rtol=0, atol=0.51e-4)
    printed = [0.9722, 0.7910, 0.4690, 0.3300, 0.3345, 0.3783, 0.7640, 0.6405]
    np.testing.assert_allclose(glasstorch.rand(8, device=cuda.device).tolist(), printed, rtol=0, atol=0.51e-4)


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda t, d: t.rand(40, device=d), lambda c: c.uniform(40, "float32")),
        (lambda t, d: t.randn(5, 7, device=d, dtype=t.float64), lambda c: c.normal((5, 7), "float64")),
        (lambda t, d: t.randn(3, device=d, dtype=t.bfloat16).float(), None),
        (lambda t, d: t.randint(3, 9, (20,), device=d), lambda c: c.integers(20, "int64", 3, 9)),
        (lambda t, d: t.empty(17, device=d, dtype=t.int32).random_(0, 5), lambda c: c.integers(17, "int32", 0, 5)),
        (lambda t, d: t.empty(17, device=d, dtype=t.uint8).random_(5), lambda c: c.integers(17, "uint8", 0, 5)),
        (lambda t, d: t.empty(17, device=d, dtype=t.int64).random_(), lambda c: c.all_integers(17, "int64")),
        (lambda t, d: t.randperm(9, device=d), lambda c: c.permutation(9)),
        (lambda t, d: t.randperm(9, device=d, dtype=t.int32), lambda c: c.permutation(9, "int32")),
        (lambda t, d: t.empty(4, 5, device=d).t().uniform_(-1, 1), lambda c: c.uniform((4, 5), "float32", -1, 1).T),
        (lambda t, d: t.zeros(4, 6, device=d)[:, ::2].normal_(2, 3), lambda c: c.normal((4, 3), "float32", 2, 3)),
        (lambda t, d: t.empty(9, device=d).exponential_(2), lambda c: c.exponential(9, "float32", 2)),
        (lambda t, d: t.empty(9, device=d).cauchy_(1, 2), lambda c: c.cauchy(9, "float32", 1, 2)),
        (lambda t, d: t.empty(9, device=d).geometric_(0.2), lambda c: c.geometric(9, "float32", 0.2)),
        (lambda t, d: t.empty(9, device=d).log_normal_(), lambda c: c.log_normal(9, "float32")),
        (lambda t, d: t.empty(9, device=d).bernoulli_(0.2), lambda c: c.bernoulli(9, "float32", 0.2)),
        (
            lambda t, d: t.empty(9, 2, device=d).t().bernoulli_(t.full((9,), 0.5, device=d)),
            lambda c: c.bernoulli_each("float32", np.full((9, 2), 0.5, np.float32)).T,
        ),
        (lambda t, d: t.bernoulli(t.empty(0, device=d)), lambda c: np.empty(0)),
        (lambda t, d: t.rand_like(t.empty(3, 4, device=d).t()), lambda c: c.uniform((3, 4), "float32").T),
        (lambda t, d: t.normal(t.ones(3, device=d), 2.0), lambda c: c.normal(3, "float32", 0, 2) + 1),
        (
            lambda t, d: t.rand(3, device=d, dtype=t.complex64),
            lambda c: c.uniform((3, 2), "float32").view("complex64")[:, 0],
        ),
        (
            lambda t, d: t.randn(3, device=d, dtype=t.complex64),
            lambda c: c.normal((3, 2), "float32", 0, 2**-0.5).view("complex64")[:, 0],
        ),
    ],
)
def test_numbers_follow_the_order_in_memory(cuda: Devices, draw: Any, expected: Any) -> None:
    glasstorch.manual_seed(11)
    drawn = draw(glasstorch, cuda.device)
    assert drawn.device is cuda.device
    wanted = card(11).normal(3, "bfloat16").astype("float32") if expected is None else expected(card(11))
    assert np.array_equal(drawn.cpu().numpy(), wanted)


def test_places_are_drawn_by_weight(cuda: Devices) -> None:
    weights = glasstorch.tensor([[0.0, 1, 0, 3], [1, 0, 0, 0]]).to(cuda.device)
    for count, replacement in ((1, False), (30, True), (1, True)):
        places = glasstorch.multinomial(weights, count, replacement)
        assert places.device is cuda.device
        assert set(places[0].tolist()) <= {1, 3}
        assert set(places[1].tolist()) == {0}
    assert sorted(weights[0].multinomial(2).tolist()) == [1, 3]


def test_the_cpu_and_each_device_have_streams_of_their_own(cuda: Devices) -> None:
    glasstorch.manual_seed(3)
    expected = glasstorch.rand(4).tolist()
    on_device = glasstorch.rand(4, device=cuda.device).tolist()
    glasstorch.manual_seed(3)
    assert glasstorch.rand(4, device=cuda.device).tolist() == on_device
    assert glasstorch.rand(4).tolist() == expected


def test_a_generator_of_the_device_is_drawn_from(cuda: Devices) -> None:
    own = glasstorch.Generator(cuda.device).manual_seed(5)
    assert own.device is cuda.device
    before = default_generator_of(cuda.device).get_offset()
    first = glasstorch.empty(6, device=cuda.device).uniform_(generator=own)
    assert np.array_equal(first.cpu().numpy(), card(5).uniform(6, "float32"))
    glasstorch.randperm(4, device=cuda.device, generator=own)
    glasstorch.multinomial(first, 2, generator=own)
    assert default_generator_of(cuda.device).get_offset() == before
    state, offset = own.get_state(), own.get_offset()
    assert offset > 0
    again = glasstorch.rand(3, device=cuda.device, generator=own).tolist()
    own.set_state(state)
    assert glasstorch.rand(3, device=cuda.device, generator=own).tolist() == again
    own.set_offset(offset)
    assert own.clone_state().get_offset() == offset
    shared = own.graphsafe_get_state()
    assert glasstorch.rand(3, device=cuda.device, generator=shared).tolist() == again
    assert own.get_offset() == shared.get_offset() > offset
    assert own.graphsafe_set_state(glasstorch.Generator(cuda.device)).get_offset() == 0


def test_a_generator_of_another_device_is_refused(cuda: Devices) -> None:
    with pytest.raises(DeviceError, match="Expected a 'cuda' device type for generator but found 'cpu' device type"):
        glasstorch.rand(3, device=cuda.device, generator=glasstorch.Generator())
    with pytest.raises(DeviceError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
        glasstorch.rand(3, generator=glasstorch.Generator(cuda.device))
    with pytest.raises(RuntimeError, match="Expected a CUDA Generator, got one of cpu"):
        glasstorch.Generator(cuda.device).graphsafe_set_state(glasstorch.Generator())


def test_what_cannot_be_drawn_into_is_refused(cuda: Devices) -> None:
    overlapping = glasstorch.zeros(1, device=cuda.device).expand(3)
    for draw in (lambda x: x.uniform_(), lambda x: x.random_(), lambda x: x.bernoulli_(overlapping)):
        with pytest.raises(OverlapError, match="more than one element"):
            draw(overlapping)
    with pytest.raises(RuntimeError, match="n must be non-negative, got -1"):
        glasstorch.randperm(-1, device=cuda.device)
