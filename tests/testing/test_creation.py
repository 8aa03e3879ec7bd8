"""Does make_tensor draw the elements that PyTorch's does?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
DTYPES = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
DTYPES += ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "float8_e4m3fn"]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"low": 0, "high": 3},
    {"low": 1.5},
    {"noncontiguous": True},
    {"exclude_zero": True},
    {"high": float("inf"), "low": 0},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_draws_pytorchs_elements(dtype: str, options: dict[str, Any], require: Require) -> None:
    torch = require("torch")
    found = []
    for library in (glasstorch, torch):
        library.manual_seed(0)
        try:
            made = library.testing.make_tensor(3, 4, dtype=getattr(library, dtype), device="cpu", **options)
        except (ValueError, RuntimeError, OverflowError) as error:
            found.append((type(error).__name__ == "ValueError", None))
            continue
        if made.is_complex():
            made = library.view_as_real(made)
        found.append((tuple(made.shape), made.stride(), made.to(library.float64).numpy().copy()))
    mine, theirs = found
    assert mine[:-1] == theirs[:-1]
    if theirs[-1] is not None:
        np.testing.assert_array_equal(mine[-1], theirs[-1])


def test_may_have_a_gradient_or_a_memory_format(torch: Any) -> None:
    assert torch.testing.make_tensor((2, 2), dtype=torch.float32, device="cpu", requires_grad=True).requires_grad
    made = torch.testing.make_tensor(1, 2, 3, 4, dtype=torch.float32, device="cpu", memory_format=torch.channels_last)
    assert made.is_contiguous(memory_format=torch.channels_last)
    assert torch.testing.make_tensor([], dtype=torch.int64, device="cpu").shape == ()


def make(t: Any, *shape: Any, dtype: str = "float32", **options: Any) -> Any:
    return t.testing.make_tensor(*shape, dtype=getattr(t, dtype), device="cpu", **options)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: make(t, 2, low=3, high=2),
        lambda t: make(t, 2, dtype="int64", low=3, high=3),
        lambda t: make(t, 2, low=float("nan")),
        lambda t: make(t, 2, dtype="uint8", low=300, high=400),
        lambda t: make(t, 2, dtype="bool", low=2, high=3),
        lambda t: make(t, 2, dtype="int64", requires_grad=True),
        lambda t: make(t, 2, noncontiguous=True, memory_format=t.contiguous_format),
    ],
)
def test_refuses_what_pytorch_refuses(call: Callable[[Any], Any], require: Require) -> None:
    same_refusal(require("torch"), call)
    with pytest.warns(FutureWarning, match="low==high"):
        make(glasstorch, 2, low=3, high=3)
