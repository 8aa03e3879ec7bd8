"""Are the points of Sobol sequences PyTorch's, bit for bit?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.quasirandom import SobolEngine
from tests.refusals import same_refusal


@pytest.fixture
def oracle() -> Any:
    return pytest.importorskip("torch")


@pytest.mark.parametrize("scramble", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 3, 17, 300])
def test_points_are_pytorchs(dimension: int, scramble: bool, oracle: Any) -> None:
    found = []
    for torch in (oracle, glasstorch):
        engine = torch.quasirandom.SobolEngine(dimension, scramble, seed=7)
        drawn = [engine.draw(), engine.draw(5), engine.draw(3, dtype=torch.float64), engine.fast_forward(40).draw(2)]
        drawn += [engine.reset().draw(9), engine.sobolstate, engine.shift, engine.quasi]
        found.append([t.numpy() for t in drawn])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


def test_the_last_dimension_is_pytorchs(oracle: Any) -> None:
    theirs = oracle.quasirandom.SobolEngine(oracle.quasirandom.SobolEngine.MAXDIM)
    ours = SobolEngine(SobolEngine.MAXDIM)
    np.testing.assert_array_equal(ours.sobolstate.numpy(), theirs.sobolstate.numpy())
    np.testing.assert_array_equal(ours.draw(3).numpy(), theirs.draw(3).numpy())


def test_without_a_seed_the_default_generator_scrambles(oracle: Any) -> None:
    for torch in (oracle, glasstorch):
        torch.manual_seed(3)
    theirs, ours = oracle.quasirandom.SobolEngine(4, True), SobolEngine(4, True)
    np.testing.assert_array_equal(ours.draw(6).numpy(), theirs.draw(6).numpy())
    assert glasstorch.rand(3).tolist() == oracle.rand(3).tolist()  # both have drawn as much


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 1000, 2**20 + 5])
@pytest.mark.parametrize("drawn", [0, 1, 6])
def test_going_forward_is_drawing(drawn: int, steps: int, oracle: Any) -> None:
    found = []
    for torch in (oracle, glasstorch):
        engine = torch.quasirandom.SobolEngine(3)
        if drawn:
            engine.draw(drawn)
        found.append((engine.fast_forward(steps).draw(3).tolist(), engine.num_generated))
    assert found[1] == found[0]


def test_a_power_of_two_of_points(oracle: Any) -> None:
    found = []
    for torch in (oracle, glasstorch):
        engine = torch.quasirandom.SobolEngine(2, scramble=True, seed=1)
        out = torch.empty(0)
        first = engine.draw_base2(2, out=out)
        found.append((first.tolist(), out.tolist(), engine.draw_base2(2).tolist(), repr(engine)))
    assert found[1] == found[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.quasirandom.SobolEngine(0),
        lambda t: t.quasirandom.SobolEngine(21202),
        lambda t: t.quasirandom.SobolEngine(3).draw(0),
        lambda t: t.quasirandom.SobolEngine(3).draw(2, dtype=t.half),
        lambda t: t.quasirandom.SobolEngine(3).draw(2, dtype=t.int32),
        lambda t: t.quasirandom.SobolEngine(3).fast_forward(1).draw_base2(1),
    ],
    ids=["no dimension", "too many", "no point", "half", "int32", "no power of two"],
)
def test_what_is_refused(call: Any, oracle: Any) -> None:
    same_refusal(oracle, call)
