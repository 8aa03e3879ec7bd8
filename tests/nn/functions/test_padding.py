"""Is padding that no operator gives refused in PyTorch's words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same

SIZES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((2,), (1, 1)),
    ((2, 2), ()),
    ((2, 2), (1,)),
    ((2, 2), (1, 1, 1, 1)),
    ((2, 2), (1,) * 6),
    ((2,) * 5, (1,) * 10),
    ((2,) * 6, (1, 1)),
]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular", "unknown"])
@pytest.mark.parametrize(("sizes", "padding"), SIZES)
def test_refusals_are_pytorchs(
    sizes: tuple[int, ...], padding: tuple[int, ...], mode: str, require: Callable[[str], Any]
) -> None:
    assert_same(lambda t: t.nn.functional.pad(t.ones(sizes), padding, mode=mode).tolist(), require("torch"))
