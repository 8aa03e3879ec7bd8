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


@pytest.mark.parametrize("kind", [bool, int, float, complex])
def test_a_type_of_python_stands_for_its_dtype(require: Callable[[str], Any], kind: type) -> None:
    torch = require("torch")
    for limits in ("finfo", "iinfo"):
        try:
            wanted = repr(getattr(torch, limits)(kind))
        except TypeError as error:
            with pytest.raises(TypeError, match=str(error).split(".")[0]):
                getattr(glasstorch, limits)(kind)
        else:
            assert repr(getattr(glasstorch, limits)(kind)) == wanted


def test_what_is_no_dtype_is_refused_in_pytorchs_words(torch: Any) -> None:
    for limits in ("finfo", "iinfo"):
        for given in ("float32", None, torch.ones(1), [1]):
            message = rf"{limits}\(\): argument 'type' \(position 1\) must be torch.dtype, not {type(given).__name__}"
            with pytest.raises(TypeError, match=message):
                getattr(torch, limits)(given)


def test_limits_are_equal_where_their_dtypes_are_and_have_no_hash(torch: Any) -> None:
    assert torch.finfo(torch.float32) == torch.finfo(torch.float32) == torch.finfo()
    assert torch.finfo(torch.complex64) == torch.finfo(torch.float32) != torch.finfo(torch.float64)
    assert torch.iinfo(torch.int8) == torch.iinfo(torch.int8) != torch.iinfo(torch.uint8)
    assert torch.iinfo(torch.int8) != torch.finfo(torch.float16)
    for limits in (torch.finfo(torch.float32), torch.iinfo(torch.int8)):
        with pytest.raises(TypeError, match="unhashable type"):
            hash(limits)
    assert glasstorch.iinfo(glasstorch.int8) != 8  # PyTorch looks into whatever it is given
