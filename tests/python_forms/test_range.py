"""Does `range` count to its end, and warn, as PyTorch's does?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

DEPRECATED = "torch.range is deprecated"


@pytest.mark.filterwarnings(f"ignore:{DEPRECATED}:UserWarning")
@pytest.mark.parametrize(
    ("arguments", "numbers"),
    [
        ((0, 4), [0, 1, 2, 3, 4]),
        ((0.5, 3), [0.5, 1.5, 2.5]),
        ((3, 1, -1), [3, 2, 1]),
        ((1, 1), [1]),
        ((1, 2, 0.25), [1, 1.25, 1.5, 1.75, 2]),
    ],
)
def test_the_end_is_among_the_numbers(torch: Any, arguments: tuple[Any, ...], numbers: list[float]) -> None:
    counted = torch.range(*arguments)
    assert (counted.tolist(), counted.dtype) == (numbers, torch.float32)
    assert torch.range(*arguments, out=torch.empty(0)).tolist() == numbers


@pytest.mark.filterwarnings(f"ignore:{DEPRECATED}:UserWarning")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda t: t.range(0, 4, 0), RuntimeError, "step must be nonzero"),
        (lambda t: t.range(0, -4), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
        (lambda t: t.range(0, float("inf")), RuntimeError, "unsupported range: 0 -> inf"),
        (lambda t: t.range(0, 4, dtype=t.bool), NotImplementedError, "\"range_cpu\" not implemented for 'Bool'"),
        (lambda t: t.range(4), TypeError, 'missing 1 required positional arguments: "end"'),
    ],
)
def test_what_cannot_be_counted_is_refused(
    torch: Any, call: Callable[[Any], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        call(torch)


def test_each_call_warns(torch: Any) -> None:
    for _ in range(2):
        with pytest.warns(UserWarning, match=DEPRECATED):
            assert torch.range(0, 4.5, dtype=torch.int64).tolist() == [0, 1, 2, 3, 4]
