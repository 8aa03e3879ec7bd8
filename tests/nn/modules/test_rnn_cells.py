"""Do cells take their states in the forms that PyTorch's take?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

STATES: list[Callable[[Any], tuple[Any, ...]]] = [
    lambda t: (t.ones(3),),
    lambda t: (t.ones(3), (t.ones(2), t.zeros(2))),
    lambda t: (t.ones(3), t.ones(2, 2)),
    lambda t: (t.ones(4, 3), [t.ones(4, 2), t.zeros(4, 2)]),
    lambda t: (t.ones(4, 3), ()),
    lambda t: (t.ones(3), (t.ones(2),)),
    lambda t: (t.ones(4, 3), (t.ones(2), t.ones(2))),
    lambda t: (t.ones(1, 4, 3),),
]


@pytest.mark.parametrize("states", STATES)
def test_lstm_cell(states: Callable[[Any], tuple[Any, ...]], require: Callable[[str], Any]) -> None:
    def program(t: Any) -> list[Any]:
        t.manual_seed(0)
        return [part.tolist() for part in t.nn.LSTMCell(3, 2)(*states(t))]

    assert_same(program, require("torch"), within=1e-6)
