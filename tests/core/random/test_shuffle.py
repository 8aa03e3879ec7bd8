"""Do all swaps at once leave what the swaps in turn leave?"""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from glasstorch.core.random.shuffle import swapped_in_turn, swapped_in_turn_plain


@st.composite
def swap_targets(draw: st.DrawFn) -> np.ndarray:
    count = draw(st.integers(0, 40))
    return np.array([draw(st.integers(place, count - 1)) for place in range(count)], np.int64)


@settings(deadline=None)
@given(swap_targets())
def test_agrees_with_the_loop(targets: np.ndarray) -> None:
    assert swapped_in_turn(targets).tolist() == swapped_in_turn_plain(targets).tolist()


def test_agrees_with_the_loop_for_many_places_and_one_long_chain() -> None:
    random = np.random.default_rng(0)
    places = np.arange(50_000)
    for targets in (
        random.integers(places, len(places)),
        np.full(5000, 4999),
        np.append(places[1:], len(places) - 1),
    ):
        assert np.array_equal(swapped_in_turn(targets), swapped_in_turn_plain(targets))
