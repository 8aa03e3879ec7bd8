"""Which reductions are refused, and in which words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

EMPTY = (2, 0, 3)
REFUSED: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "mean of integers": (
        lambda t: t.arange(3).mean(),
        RuntimeError,
        r"mean\(\): could not infer output dtype. Input dtype must be either a floating point or .* Got: Long",
    ),
    "mean as integers": (
        lambda t: t.zeros(3).mean(dtype=t.int64),
        RuntimeError,
        r"mean\(\): could not infer output dtype. Optional dtype must be .* Got: Long",
    ),
    "a dimension twice": (lambda t: t.zeros(2, 3).sum((0, -2)), RuntimeError, "dim 0 appears multiple times"),
    "no such dimension": (
        lambda t: t.zeros(2, 3).amax(2),
        IndexError,
        r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)",
    ),
    "max of nothing": (
        lambda t: t.zeros(EMPTY).max(),
        RuntimeError,
        r"max\(\): Expected reduction dim to be specified for input.numel\(\) == 0",
    ),
    "min over nothing": (
        lambda t: t.zeros(EMPTY).min(1),
        IndexError,
        r"min\(\): Expected reduction dim 1 to have non-zero size",
    ),
    "amin of nothing": (
        lambda t: t.zeros(EMPTY).amin(),
        RuntimeError,
        r"amin\(\): Expected reduction dim to be specified",
    ),
    "amax over nothing": (lambda t: t.zeros(EMPTY).amax((0, 1)), IndexError, r"amax\(\): Expected reduction dim 1"),
    "argmax of nothing": (lambda t: t.zeros(EMPTY).argmax(), IndexError, r"argmax\(\): Expected reduction dim to be"),
    "argmin over nothing": (lambda t: t.zeros(EMPTY).argmin(1), IndexError, r"argmin\(\): Expected reduction dim 1"),
    "argmax of bool": (lambda t: t.zeros(2).bool().argmax(), RuntimeError, r"argmax\(\): does not support bool input"),
    "max into another dtype": (
        lambda t: t.max(t.zeros(2, 2), 0, out=(t.zeros(2).double(), t.zeros(2).long())),
        RuntimeError,
        "Expected out tensor to have dtype float, but got double instead",
    ),
    "indices into int32": (
        lambda t: t.argmax(t.zeros(2, 2), 0, out=t.zeros(2, dtype=t.int32)),
        RuntimeError,
        "Expected out tensor to have dtype long int, but got int instead",
    ),
    "amax into another dtype": (
        lambda t: t.amax(t.zeros(2, 2), 0, out=t.zeros(2).double()),
        RuntimeError,
        "Expected the dtype for input and out to match, but got Float for input's dtype and Double for out's dtype",
    ),
    "all into float": (
        lambda t: t.all(t.zeros(2, 2), 0, out=t.zeros(2)),
        RuntimeError,
        "all only supports bool tensor for result, got: Float",
    ),
    "mean into integers": (
        lambda t: t.mean(t.zeros(2, 2), 0, out=t.zeros(2).long()),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(torch: Any, case: str) -> None:
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call(torch)


def test_more_than_64_dimensions_are_refused(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="only tensors with up to 64 dims are supported"):
        torch.amax(torch.zeros(1).as_strided((1,) * 65, (1,) * 65), 0)
