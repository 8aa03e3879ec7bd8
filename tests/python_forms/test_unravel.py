"""Where does the element of a number lie?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.refusals import same_refusal


def test_the_coordinates_of_numbers(torch: Any) -> None:
    assert [c.tolist() for c in torch.unravel_index(torch.tensor([4, 1]), (3, 2))] == [[2, 0], [0, 1]]
    assert [c.tolist() for c in torch.unravel_index(torch.tensor([[5]]), (1, 2, 3))] == [[[0]], [[1]], [[2]]]
    assert [c.item() for c in torch.unravel_index(torch.tensor(4, dtype=torch.uint8), 9)] == [4]
    assert torch.unravel_index(torch.tensor([0]), ()) == ()
    (only,) = torch.unravel_index(torch.tensor([3], dtype=torch.int8), torch.Size([5]))
    assert only.dtype is torch.int64


REFUSED: dict[str, Callable[[Any], Any]] = {
    "floats": lambda t: t.unravel_index(t.zeros(2), (3,)),
    "bool": lambda t: t.unravel_index(t.zeros(2).bool(), (3,)),
    "no sizes": lambda t: t.unravel_index(t.tensor([0]), 2.5),
    "a size that is none": lambda t: t.unravel_index(t.tensor([0]), (2.5,)),
    "a negative size": lambda t: t.unravel_index(t.tensor([0]), (-2,)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str, require: Callable[[str], Any]) -> None:
    same_refusal(require("torch"), REFUSED[name])
