"""Which norm is computed for an order by number or by name, and what is refused?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
CALLS: list[tuple[Any, ...]] = [
    (), ("fro",), ("nuc",), (None,), (1,), (float("inf"),), ("fro", 0), ("fro", [0, 1], True), ("nuc", [1, 0]),
    (3, [0], True),
]  # fmt: skip


@pytest.mark.parametrize("arguments", CALLS)
def test_the_function_the_method_and_out_agree_with_pytorch(require: Require, arguments: Any) -> None:
    data = np.arange(6.0).reshape(2, 3) - 2
    x, y = glasstorch.from_numpy(data), require("torch").from_numpy(data)
    expected = require("torch").norm(y, *arguments).numpy()
    out = glasstorch.empty(expected.shape, dtype=glasstorch.float64)
    assert glasstorch.norm(x, *arguments, out=out) is out
    for found in (glasstorch.norm(x, *arguments), x.norm(*arguments), out):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_the_elements_may_be_converted_first() -> None:
    assert glasstorch.tensor([3.0, 4.0]).norm(dtype=glasstorch.float64).dtype is glasstorch.float64


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.norm(t.ones(2, 2), "max"), lambda t: t.norm(t.ones(2), "nuc"), lambda t: t.norm(t.tensor([1, 2])),
        lambda t: t.norm(t.ones(2, 2, 2), "nuc"), lambda t: t.norm(t.ones(2, 2), 2, 2),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)
