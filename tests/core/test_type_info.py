"""Are the limits of the dtypes PyTorch's?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch


@pytest.mark.parametrize(
    "name", ["float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128"]
)
def test_limits_of_a_floating_point_dtype(require: Callable[[str], Any], name: str) -> None:
    torch = require("torch")
    ours, theirs = glasstorch.finfo(getattr(glasstorch, name)), torch.finfo(getattr(torch, name))
    assert repr(ours) == repr(theirs)
    for limit in ("bits", "min", "max", "eps", "tiny", "smallest_normal", "resolution", "dtype"):
        assert getattr(ours, limit) == getattr(theirs, limit)


@pytest.mark.parametrize("name", ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"])
def test_limits_of_an_integer_dtype(require: Callable[[str], Any], name: str) -> None:
    torch = require("torch")
    ours, theirs = glasstorch.iinfo(getattr(glasstorch, name)), torch.iinfo(getattr(torch, name))
    assert repr(ours) == repr(theirs)
    for limit in ("bits", "min", "max", "dtype"):
        assert getattr(ours, limit) == getattr(theirs, limit)


def test_the_limits_of_the_other_kind_are_refused(torch: Any) -> None:
    with pytest.raises(TypeError, match="requires a floating point input type"):
        torch.finfo(torch.int32)
    with pytest.raises(TypeError, match="requires an integer input type"):
        torch.iinfo(torch.float32)
