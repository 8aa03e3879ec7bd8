"""Does what programs on nested tensors once found to differ give what it gives in PyTorch?

Each program is run on both libraries; it was refused when it was first run on this one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from tests.nn.side_by_side import assert_same
from tests.sparse.told import told


def sequences(t: Any) -> Any:
    return t.nested.nested_tensor([t.arange(n * 3.0).view(n, 3) for n in (2, 3, 1)], layout=t.jagged)


def bags(t: Any, mode: str, sparse: bool = False) -> Any:
    """What an EmbeddingBag makes of sequences of words, and the gradient of its table."""
    words = t.nested.nested_tensor([[1, 2, 3], [4]], layout=t.jagged)
    values = t.tensor([1.0, 2, 3, 4])
    weights = t.nested.nested_tensor_from_jagged(values, words.offsets()) if mode == "sum" else None
    bag = t.nn.EmbeddingBag(6, 2, mode=mode, sparse=sparse)
    with t.no_grad():
        bag.weight.copy_(t.arange(12.0).view(6, 2))
    result = bag(words, per_sample_weights=weights)
    result.sum().backward()
    return told(t, [result, bag.weight.grad])


FOUND: dict[str, Callable[[Any], Any]] = {
    "bags that are sequences": lambda t: [bags(t, "sum"), bags(t, "mean"), bags(t, "max"), bags(t, "mean", True)],
    "the sizes of another one": lambda t: told(t, [x.reshape_as(x) for x in [sequences(t)]]),
    "padding that is a bool": lambda t: told(
        t, [(sequences(t) > 1).to_padded_tensor(False), sequences(t).to_padded_tensor(True)]
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_is_as_in_pytorch(name: str, require: Callable[[str], Any]) -> None:
    def quietly(t: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return FOUND[name](t)

    assert_same(quietly, require("torch"))
