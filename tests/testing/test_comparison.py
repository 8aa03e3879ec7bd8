"""Does assert_close accept and refuse what PyTorch's does, in the same words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Close = Callable[[Any], Any]


def check(t: Any, actual: Any, expected: Any, **options: Any) -> None:
    t.testing.assert_close(actual, expected, **options)


ACCEPTED: list[Close] = [
    lambda t: check(t, t.ones(2), t.ones(2) + 1e-6),
    lambda t: check(t, [1.0, 2], (1.0 + 1e-9, 2)),
    lambda t: check(t, {"a": t.ones(2), "b": [None, True]}, {"b": (None, True), "a": t.ones(2)}),
    lambda t: check(t, t.tensor([float("inf")]), t.tensor([float("inf")])),
    lambda t: check(t, t.tensor([float("nan")]), t.tensor([float("nan")]), equal_nan=True),
    lambda t: check(t, float("nan"), float("nan"), equal_nan=True),
    lambda t: check(t, np.ones(2), np.ones(2)),
    lambda t: check(t, np.float64(1.0), 1.0),
    lambda t: check(t, t.ones(2, dtype=t.float64), t.ones(2), check_dtype=False),
    lambda t: check(t, t.ones(2, 3).T, t.ones(3, 2)),
    lambda t: check(t, t.ones(2), t.full((2,), 1.5), rtol=0.5, atol=0),
    lambda t: check(t, 1, 1.0, check_dtype=False),
    lambda t: check(t, [], ()),
    lambda t: check(t, t.nn.Parameter(t.ones(2)), t.ones(2)),
    lambda t: check(t, t.empty(2, device="meta"), t.empty(2, device="meta")),
    lambda t: check(t, t.ones(2, dtype=t.bool), t.ones(2, dtype=t.bool)),
    lambda t: check(t, t.ones(2, dtype=t.float8_e4m3fn), t.ones(2, dtype=t.float8_e4m3fn)),
]
REFUSED: list[Close] = [
    lambda t: check(t, t.ones(2), t.ones(2) * 2),
    lambda t: check(t, t.ones(2, 3), t.arange(6.0).reshape(2, 3)),
    lambda t: check(t, t.ones(3), t.tensor([1.0, 1.1, 0.0]), rtol=0, atol=0),
    lambda t: check(t, t.tensor(1.0), t.tensor(1.5)),
    lambda t: check(t, t.tensor([1, 2]), t.tensor([1, 5])),
    lambda t: check(t, t.tensor([True]), t.tensor([False])),
    lambda t: check(t, t.tensor([1, 200], dtype=t.uint8), t.tensor([3, 0], dtype=t.uint8)),
    lambda t: check(t, t.tensor([1 + 2j]), t.tensor([1 + 3j])),
    lambda t: check(t, t.tensor([float("nan")]), t.tensor([float("nan")])),
    lambda t: check(t, t.tensor([1.0], dtype=t.float8_e4m3fn), t.tensor([2.0], dtype=t.float8_e4m3fn)),
    lambda t: check(t, t.tensor([1.0], dtype=t.float8_e4m3fn), t.tensor([1.0], dtype=t.float8_e4m3fn), rtol=1, atol=1),
    lambda t: check(t, t.ones(2), t.ones(3)),
    lambda t: check(t, t.ones(2), t.ones(2, dtype=t.float64)),
    lambda t: check(t, t.ones(2), t.ones(2, device="meta")),
    lambda t: check(t, t.ones(2, 3).T, t.ones(3, 2), check_stride=True),
    lambda t: check(t, t.ones(2), t.ones(2), rtol=1),
    lambda t: check(t, t.ones(2), t.ones(2), atol=1),
    lambda t: check(t, 1.0, 1.0, atol=1),
    lambda t: check(t, 1, 2),
    lambda t: check(t, 1.0, 1.5),
    lambda t: check(t, 1.0, 0.0),
    lambda t: check(t, 1, 1.0),
    lambda t: check(t, float("nan"), float("nan")),
    lambda t: check(t, float("inf"), 1.0),
    lambda t: check(t, True, False),
    lambda t: check(t, None, 1),
    lambda t: check(t, "a", "a"),
    lambda t: check(t, "a", 1),
    lambda t: check(t, t.ones(2), 1),
    lambda t: check(t, [1, 2], [1]),
    lambda t: check(t, [1, [2, 3]], [1, [2, 4]]),
    lambda t: check(t, [t.ones(1), [2, 3]], [t.zeros(1), [2]]),
    lambda t: check(t, {"a": 1, "b": 2}, {"a": 1, "c": 2}),
    lambda t: check(t, {"a": {"x": t.ones(2)}}, {"a": {"x": t.zeros(2)}}),
    lambda t: check(t, np.ones(2), np.zeros(2)),
    lambda t: check(t, np.ones(2), t.ones(2)),
    lambda t: check(t, t.ones(2), t.zeros(2), msg="not so"),
    lambda t: check(t, t.ones(2), t.zeros(2), msg=lambda words: f"Argh!\n\n{words}\n\nFooter"),
    lambda t: check(t, [1.0], [2.0], msg=lambda words: f"Argh!\n\n{words}"),
    lambda t: check(t, t.nn.Parameter(t.ones(2)), t.ones(2), allow_subclasses=False),
    lambda t: check(t, t.ones(2, 2), t.zeros(2, 2), rtol=0.1, atol=0.2),
]


@pytest.mark.parametrize("number", range(len(ACCEPTED)))
def test_accepts_what_is_close(torch: Any, number: int) -> None:
    ACCEPTED[number](torch)


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refuses_in_pytorchs_words(number: int, require: Callable[[str], Any]) -> None:
    torch = require("torch")

    def call(library: Any) -> None:
        try:
            REFUSED[number](library)
        except Exception as error:
            raise type(error)(str(error).replace("glasstorch", "torch").replace("torch._tensor.", "torch.")) from error

    same_refusal(torch, call)


def test_the_older_form_is_looser_and_warns(torch: Any) -> None:
    with pytest.warns(FutureWarning, match="assert_allclose"):
        torch.testing.assert_allclose([1.0, 2.0], torch.tensor([1.00005, 2.0]))
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="Mismatched elements: 1 / 2"):
        torch.testing.assert_allclose(torch.tensor([1.0, 2.0]), [1.1, 2.0])


def test_gradients_are_not_recorded_by_a_comparison() -> None:
    x = glasstorch.ones(2, requires_grad=True)
    glasstorch.testing.assert_close(x, x * 1)
    assert x.grad is None
