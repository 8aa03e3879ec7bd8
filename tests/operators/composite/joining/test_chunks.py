"""Are the chunks of several tensors joined, and the tensors refused, as PyTorch does it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from tests.nn.side_by_side import assert_same

CALLS: dict[str, Callable[[Any], Any]] = {
    "zeros fill the last chunk": lambda t: t._chunk_cat([t.arange(6.0).reshape(3, 2), t.ones(3)], 0, 2).tolist(),
    "a dimension from the end": lambda t: t._chunk_cat([t.arange(6.0).reshape(3, 2)], -1, 2).tolist(),
    "sizes before it stay": lambda t: t._chunk_cat([t.ones(2, 3, 2), t.zeros(2, 1)], 1, 2).tolist(),
    "out=": lambda t: t._chunk_cat([t.ones(3)], 0, 2, out=t.empty(0)).tolist(),
    "on meta": lambda t: tuple(t._chunk_cat([t.ones(3, device="meta")], 0, 2).shape),
    "no chunks": lambda t: t._chunk_cat([t.ones(3)], 0, 0),
    "no tensors": lambda t: t._chunk_cat([], 0, 1),
    "no such dimension": lambda t: t._chunk_cat([t.ones(3)], 1, 1),
    "a dimension that the second lacks": lambda t: t._chunk_cat([t.ones(3, 2), t.ones(3)], 1, 1),
    "no elements": lambda t: t._chunk_cat([t.ones(0)], 0, 1),
    "two dtypes": lambda t: t._chunk_cat([t.ones(3), t.ones(3, dtype=t.int32)], 0, 1),
    "two devices": lambda t: t._chunk_cat([t.ones(3), t.ones(3, device="meta")], 0, 1),
    "other sizes before it": lambda t: t._chunk_cat([t.ones(3, 2), t.ones(2, 2)], 1, 1),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_chunks_are_joined_or_refused_as_pytorch_does(call: Callable[[Any], Any], require: Any) -> None:
    assert_same(call, require("torch"))


def test_each_row_is_a_chunk_of_every_tensor() -> None:
    joined = glasstorch._chunk_cat([glasstorch.tensor([1, 2, 3, 4]), glasstorch.tensor([5, 6])], 0, 2)
    assert joined.tolist() == [[1, 2, 5], [3, 4, 6]]
