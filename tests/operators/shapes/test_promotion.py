"""Is the dtype of several operands PyTorch's, for every pair of dtypes and every class of operand?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import glasstorch
from glasstorch._tensor import wrapped_number
from glasstorch.core.dtype import (
    BY_NAME,
    DTYPES,
    FLOAT8,
    NO_COMPLEX_HALF,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int64,
    uint8,
)
from glasstorch.operators.shapes.promotion import float_result_type, result_type

CLASSES = ("dimensioned", "zero_dim", "number")
NUMBER = {"bool": True, "int64": 2, "float32": 0.5, "complex64": 1j}  # a Python number has one of four dtypes


def operand(kind: str, name: str) -> Any:
    """An operand of glasstorch of one class and dtype."""
    if kind == "number":
        return wrapped_number(NUMBER[name])
    return glasstorch.empty((2,) if kind == "dimensioned" else (), dtype=BY_NAME[name])


def pairs() -> list[tuple[str, str]]:
    return [(k, d.name) for k, d in product(CLASSES, DTYPES) if k != "number" or d.name in NUMBER]


@pytest.mark.parametrize(("kind", "name"), pairs())
def test_every_pair_is_promoted_as_in_torch(kind: str, name: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")

    def theirs(kind: str, name: str) -> Any:
        if kind == "number":
            return NUMBER[name]
        return torch.empty((2,) if kind == "dimensioned" else (), dtype=getattr(torch, name))

    for other_kind, other_name in pairs():
        ours = outcome(lambda other=(other_kind, other_name): result_type(operand(kind, name), operand(*other)))
        wanted = outcome(lambda other=(other_kind, other_name): torch.result_type(theirs(kind, name), theirs(*other)))
        if wanted == "torch.complex32":  # which is not here
            assert ours == NO_COMPLEX_HALF
        else:
            assert ours == wanted, (other_kind, other_name)


def outcome(compute: Callable[[], Any]) -> str:
    """What is answered, or the message of the refusal."""
    try:
        return repr(compute())
    except RuntimeError as error:
        return str(error)


def test_a_weaker_class_counts_only_with_a_higher_category() -> None:
    bytes_ = glasstorch.empty((3,), dtype=uint8)
    assert result_type(bytes_, 300) is uint8
    assert result_type(bytes_, glasstorch.empty((), dtype=int64)) is uint8
    assert result_type(bytes_, 0.5) is float32
    assert result_type(glasstorch.empty((3,), dtype=float16), glasstorch.empty((), dtype=float64)) is float16


def test_a_zero_dim_tensor_beats_a_number_and_falls_to_a_dimensioned_one() -> None:
    scalar = glasstorch.empty((), dtype=float64)
    assert result_type(scalar, 0.5) is float64
    assert result_type(glasstorch.empty((1,), dtype=float32), scalar, 2) is float32


def test_a_python_number_and_its_wrapped_tensor_are_the_same() -> None:
    for value, other in product((True, 2, 0.5), sorted(set(DTYPES) - FLOAT8, key=repr)):
        x = glasstorch.empty((2,), dtype=other)
        assert result_type(x, value) is result_type(x, wrapped_number(value))


def test_a_float_number_has_the_default_dtype() -> None:
    glasstorch.set_default_dtype(float64)
    try:
        assert result_type(2, 0.5) is float64
        assert float_result_type(glasstorch.empty((2,), dtype=int64)) is float64
    finally:
        glasstorch.set_default_dtype(float32)


def test_a_complex_number_makes_a_float_complex_and_keeps_its_width() -> None:
    assert result_type(glasstorch.empty((2,), dtype=float64), 1j) is complex128
    assert result_type(glasstorch.empty((2,), dtype=int64), 1j) is complex64
    assert result_type(glasstorch.empty((2,), dtype=float32), glasstorch.empty((), dtype=complex128)) is complex64
    with pytest.raises(RuntimeError, match="complex32"):
        result_type(glasstorch.empty((2,), dtype=float16), 1j)


def test_division_makes_floats_of_integers_only() -> None:
    assert float_result_type(glasstorch.empty((2,), dtype=int64), 3) is float32
    assert float_result_type(glasstorch.empty((2,), dtype=float16), 3) is float16
    assert float_result_type(glasstorch.empty((2,), dtype=complex64), 3) is complex64


def test_everybody_may_ask() -> None:
    x = glasstorch.zeros(2, dtype=int64)
    found = [glasstorch.result_type(x, 2.5), glasstorch.result_type(1j, x), glasstorch.result_type(True, 2)]
    assert found == [float32, complex64, int64]
    assert glasstorch.result_type(x, glasstorch.zeros(2, dtype=float64)) is float64
    with pytest.raises(TypeError, match=r"result_type\(\) received an invalid combination of arguments"):
        glasstorch.result_type(float32, x)


LARGE = (2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1)


@pytest.mark.parametrize("name", ["bool", "uint8", "int16", "int64", "uint64", "float32", "complex64"])
def test_an_int_beyond_int64_is_of_uint64_and_one_beyond_that_is_refused(
    name: str, require: Callable[[str], Any]
) -> None:
    torch = require("torch")
    calls: dict[str, Callable[[Any, Any, int], Any]] = {
        "add": lambda library, x, number: x + number,
        "swapped": lambda library, x, number: number * x,
        "divide": lambda library, x, number: x / number,
        "remainder": lambda library, x, number: x % number,
        "compare": lambda library, x, number: x < number,
        "equal": lambda library, x, number: x == number,
        "in place": lambda library, x, number: x.add_(number),
        "named": lambda library, x, number: library.result_type(x, number),
    }
    for what, call in calls.items():
        for number in LARGE:
            found, wanted = (
                text_of(lambda call=call, library=library, number=number: call(library, ones(library, name), number))
                for library in (glasstorch, torch)
            )
            assert found == wanted, (what, number)


def ones(library: Any, name: str) -> Any:
    """Two elements of a dtype."""
    return library.ones(2, dtype=getattr(library, name))


def text_of(compute: Callable[[], Any]) -> str:
    """What is computed, or the message of the refusal, as text."""
    try:
        found = compute()
        return str(found.tolist() if hasattr(found, "tolist") else found)
    except (RuntimeError, OverflowError) as error:
        return str(error)


def test_an_int_that_no_dtype_holds_fills_nothing(torch: Any) -> None:
    for fill in (lambda n: torch.full((2,), n, dtype=torch.bool), torch.zeros(2, dtype=torch.bool).fill_):
        assert fill(2**63).tolist() == [True, True]
        with pytest.raises(OverflowError, match="int too big to convert"):
            fill(2**100)
