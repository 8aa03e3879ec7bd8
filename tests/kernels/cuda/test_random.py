"""Does a CUDA device receive the random numbers that the CPU draws?"""

from __future__ import annotations

from typing import Any

import pytest

import glasstorch
from glasstorch.core.errors import OverlapError
from tests.kernels.cuda.devices import Devices


@pytest.mark.parametrize(
    "draw",
    [
        lambda t, d: t.rand(40, device=d),
        lambda t, d: t.randn(5, 7, device=d, dtype=t.float64),
        lambda t, d: t.randint(3, 9, (20,), device=d),
        lambda t, d: t.randperm(9, device=d),
        lambda t, d: t.empty(4, 5, device=d).t().uniform_(-1, 1),
        lambda t, d: t.zeros(4, 6, device=d)[:, ::2].normal_(2, 3),
        lambda t, d: t.empty(17, device=d, dtype=t.int32).random_(0, 5),
        lambda t, d: t.empty(17, device=d, dtype=t.int64).random_(),
        lambda t, d: t.empty(9, 2, device=d).t().exponential_(2),
        lambda t, d: t.empty(9, device=d).cauchy_(),
        lambda t, d: t.empty(9, device=d).geometric_(0.2),
        lambda t, d: t.empty(9, device=d).log_normal_(),
        lambda t, d: t.empty(9, device=d).bernoulli_(0.2),
        lambda t, d: t.empty(2, 9, device=d).bernoulli_(t.full((9,), 0.5, device=d)),
        lambda t, d: t.multinomial(t.tensor([0.5, 1, 2, 3]).to(d), 3),
        lambda t, d: t.multinomial(t.tensor([[0.5, 1, 2, 3]]).to(d), 30, True),
        lambda t, d: t.rand_like(t.empty(3, 4, device=d).t()),
        lambda t, d: t.normal(t.zeros(3, device=d), 2.0),
    ],
)
def test_the_seed_gives_the_same_numbers_on_both(cuda: Devices, draw: Any) -> None:
    found = []
    for device in ("cpu", cuda.device):
        glasstorch.manual_seed(11)
        found.append(draw(glasstorch, device))
    assert found[1].device is cuda.device
    assert found[0].stride() == found[1].stride()
    assert found[0].tolist() == found[1].tolist()


def test_a_generator_of_ones_own_is_drawn_from(cuda: Devices) -> None:
    stream = glasstorch.Generator().manual_seed(5)
    first = glasstorch.empty(6, device=cuda.device).uniform_(generator=stream)
    again = glasstorch.rand(6, generator=glasstorch.Generator().manual_seed(5))
    assert first.tolist() == again.tolist()


def test_a_tensor_that_overlaps_itself_is_refused(cuda: Devices) -> None:
    with pytest.raises(OverlapError, match="more than one element"):
        glasstorch.zeros(1, device=cuda.device).expand(3).uniform_()
