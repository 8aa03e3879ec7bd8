"""Does a program do the same with both libraries?

A program is a function of one library, `torch` or `glasstorch`. It returns plain data: lists, strings, numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch

Program = Callable[[Any], Any]


def outcome(program: Program, library: Any) -> tuple[Any, Any, list[tuple[type[Warning], str]]]:
    """What a program returned, which error it raised, and what it was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            returned, error = program(library), None
        except Exception as raised:  # noqa: BLE001 (the error is what is compared)
            returned, error = None, raised
    return returned, error, [(warning.category, str(warning.message)) for warning in caught]


def assert_same(program: Program, torch: Any, words: bool = True, within: float = 0.0) -> None:
    """The same data, warnings and errors; messages too, unless `words` is False.

    Numbers differ by at most the share `within` of them or, near zero, by `within`.
    """
    expected, expected_error, expected_warnings = outcome(program, torch)
    returned, error, warned = outcome(program, glasstorch)
    if (error is None) != (expected_error is None):
        raise error or AssertionError(f"PyTorch raises {expected_error!r}; this library returned {returned!r}")
    if error is not None:
        assert isinstance(error, type(expected_error)), (error, expected_error)
        assert type(error).__name__ == type(expected_error).__name__
        if words:
            assert as_torch(str(error)) == str(expected_error)
    assert_equal(returned, expected, within)
    assert [kind for kind, _ in warned] == [kind for kind, _ in expected_warnings]
    if words:
        assert [as_torch(text) for _, text in warned] == [text for _, text in expected_warnings]


def assert_equal(returned: Any, expected: Any, within: float) -> None:
    """The same data: lists of the same lengths, and numbers that are nearly the same."""
    if within and isinstance(expected, list | tuple):
        assert (type(returned), len(returned)) == (type(expected), len(expected))
        for one, other in zip(returned, expected, strict=True):
            assert_equal(one, other, within)
    elif within and isinstance(expected, float):
        assert returned == pytest.approx(expected, rel=within, abs=within, nan_ok=True)
    else:
        assert returned == expected


def as_torch(text: str) -> str:
    """A message with the library's name as PyTorch's."""
    return text.replace("glasstorch.", "torch.")
