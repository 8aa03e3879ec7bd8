"""Do operators that copy their result into out= refuse what PyTorch refuses?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Geometry = tuple[tuple[int, ...], tuple[int, ...], int]  # sizes, strides, offset

CASES: dict[str, tuple[Geometry, Geometry, int, str | None]] = {  # input, out=, number of indices, refusal
    "the input itself": (((3,), (1,), 0), ((3,), (1,), 0), 3, "some elements of the input tensor"),
    "a part of the input": (((3,), (1,), 0), ((1,), (1,), 2), 1, "some elements of the input tensor"),
    "a part, to be resized": (((3,), (1,), 0), ((1,), (0,), 0), 2, "some elements of the input tensor"),
    "one place twice": (((3,), (1,), 4), ((2,), (0,), 0), 2, "more than one element"),
    "one place twice, to be resized": (((3,), (1,), 4), ((2,), (0,), 0), 1, "more than one element"),
    "memory beside": (((3,), (1,), 0), ((2,), (1,), 3), 2, None),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_take_writes_to_no_memory_that_is_read(require: Callable[[str], Any], name: str) -> None:
    source, written, count, refusal = CASES[name]
    for library in (require("glasstorch"), require("torch")):
        memory = library.arange(8.0)
        x, out = memory.as_strided(*source), memory.as_strided(*written)
        indices = library.zeros(count, dtype=library.int64)
        if refusal is None:
            assert library.take(x, indices, out=out) is out
            assert memory.tolist() == [0, 1, 2, 0, 0, 5, 6, 7]
            continue
        with pytest.raises(RuntimeError, match=refusal):
            library.take(x, indices, out=out)
        assert memory.tolist() == list(range(8))
