"""Is each tensor put in its place, and each class listed once?"""

from typing import Any

import glasstorch as torch
from workbook.exercises.asking import Ask, expect


class Left(torch.Tensor):
    """A class with a handler."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


class Right(torch.Tensor):
    """Another class with a handler, unrelated to the first."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


class LeftChild(Left):
    """A subclass, which inherits the handler."""


class RightChild(Right):
    """Another subclass."""


class LeftGrandchild(LeftChild):
    """A subclass of a subclass."""


class Plain(torch.Tensor):
    """A class of tensors without a handler."""


def of(kind: Any) -> Any:
    """A tensor of a class."""
    if kind in (Plain, torch.Tensor):
        return torch.ones(2).as_subclass(kind)
    return torch.Tensor._make_wrapper_subclass(kind, (2,))


def after(ask: Ask, kinds: list[Any]) -> list[str]:
    """The classes in the tuple after tensors of these kinds were added from left to right."""
    asked: tuple[Any, ...] = ()
    for kind in kinds:
        asked = ask("with_its_class", asked, of(kind)).value
    return [type(one).__name__ for one in asked]


def test_the_order(ask: Ask) -> None:
    """the order of the classes for tensors of several classes"""
    for kinds, wanted in (
        ([Right, Left, Right, Left], ["Right", "Left"]),
        ([Left, LeftChild], ["LeftChild", "Left"]),
        ([LeftChild, Left], ["LeftChild", "Left"]),
        ([Right, Left, LeftChild], ["Right", "LeftChild", "Left"]),
        ([Left, Right, LeftGrandchild, RightChild, LeftChild],
         ["LeftGrandchild", "LeftChild", "Left", "RightChild", "Right"]),
    ):  # fmt: skip
        names = ", ".join(kind.__name__ for kind in kinds)
        because = "a tensor goes before the first one whose class is a base of its own class, otherwise to the end"
        expect(after(ask, kinds), wanted, asked=f"the order for {names}", because=because)


def test_the_first_of_a_class_stays(ask: Ask) -> None:
    """whether the first tensor of a class stays in the tuple"""
    first, second = of(Left), of(Left)
    asked = ask("with_its_class", (first,), second).value
    expect(asked[0] is first, True, because="a tensor whose class is there already is not added, and replaces none")


def test_without_a_handler(ask: Ask) -> None:
    """the order of the classes if some tensors have no handler"""
    kinds = [torch.Tensor, Plain, LeftChild, Plain]
    expect(after(ask, kinds), ["LeftChild"], because="a class without a handler has no method to call")
