"""Is the result returned unchanged, NotImplemented returned where types do not fit, and any other error raised?"""

from typing import Any

from glasstorch.core.errors import ArgumentTypeError, ShapeError
from workbook.exercises.asking import Ask, Raises, expect


def minus(a: Any, b: Any) -> Any:
    return a - b


def less(a: Any, b: Any) -> Any:
    return a < b


def refuses(a: Any, b: Any) -> Any:
    raise ArgumentTypeError("argument 'other' (position 1) must be Tensor")


def does_not_fit(a: Any, b: Any) -> Any:
    raise ShapeError("the size of tensor a (2) must match the size of tensor b (3)")


def has_a_bug(a: Any, b: Any) -> Any:
    raise TypeError("unhashable type: 'list'")


class Right:
    """A right operand that could add the left one; its repr is short."""

    def __radd__(self, left: Any) -> str:
        return "the right operand's answer"

    def __repr__(self) -> str:
        return "right"


def test_a_result(ask: Ask) -> None:
    """the result of the function, unchanged"""
    for function, a, b in ((minus, 7, 5), (minus, 5, 5), (less, 7, 5), (less, 5, 7)):
        because = "the function decides what the result is, and 0 and False are results like any other"
        expect(ask("method_operator", function, a, b), function(a, b), because=because)


def test_a_refusal(ask: Ask) -> None:
    """the value that makes Python try the right operand, for operands that the function refuses"""
    for other in ("a text", None, Right()):
        because = "Python calls the method of the right operand only when the left one returns this value"
        expect(ask("method_operator", refuses, 7, other), NotImplemented, because=because)


def test_another_error(ask: Ask) -> None:
    """an error that is raised unchanged: the function accepts these types, and something else went wrong"""
    for function, accepted, because in (
        (does_not_fit, Raises(ShapeError, "must match"), "the types are accepted, so this is not a refusal of them"),
        (has_a_bug, Raises(TypeError, "unhashable"), "a TypeError from further down is a mistake, not a refusal"),
    ):
        expect(ask("method_operator", function, 7, 5), accepted, because=because)


def test_called_once(ask: Ask) -> None:
    """the contents of a list after one call of a function that appends to it"""

    def append(a: list[int], b: int) -> list[int]:
        a.append(b)
        return a

    written = [1]
    ask("method_operator", append, written, 2).value  # noqa: B018 (refuses what raised)
    expect(written, [1, 2], because="`a += b` must not add twice, so the function is called once")
