"""Does an operator of Python give what PyTorch's gives, and pass the turn on where that does?"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.calls.python_operators import method_operator
from tests.calls.outcomes import Call, same_class_of_refusal, same_outcome, x

Require = Callable[[str], Any]

ACCEPTED: dict[str, Call] = {
    "add of a NumPy scalar": lambda t: x(t) + np.float64(2),
    "mul of a bool": lambda t: x(t) * True,
    "int tensor plus float": lambda t: t.arange(3) + 0.5,
    "reflected": lambda t: [1 + x(t), 2 * x(t), 1 - x(t), 1 / (x(t) + 1), 2 ** x(t), 7 // (x(t) + 1), 7 % (x(t) + 1)],
    "comparison with a number": lambda t: x(t) > 2,
    "equality with what is no number": lambda t: x(t) == "a",
}  # fmt: skip


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_operator_gives_pytorchs_result(name: str, require: Require) -> None:
    same_outcome(require("torch"), ACCEPTED[name])


# A call that is refused, and words of the message that both libraries use.
REFUSED: dict[str, tuple[Call, str]] = {
    "a missing operand": (lambda t: x(t) + None, "unsupported operand type(s) for +: 'Tensor' and 'NoneType'"),
    "a string operand": (lambda t: "a" * x(t), ""),
    "an object operand": (lambda t: x(t) < object(), "'<' not supported between instances of 'Tensor' and 'object'"),
    "matmul with a number": (lambda t: x(t) @ 2, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_operator_that_nobody_takes_raises_pytorchs_class_of_error(name: str, require: Require) -> None:
    same_class_of_refusal(require("torch"), *REFUSED[name])


def test_a_mistake_below_an_operator_of_python_is_not_taken_for_a_refusal() -> None:
    # PyTorch takes every TypeError for one (the bridge, in chapter 01, runs it)
    def mistaken(left: object, right: object) -> object:
        raise TypeError("unhashable type: 'list'")

    with pytest.raises(TypeError, match="unhashable"):
        method_operator(mistaken, 1, 2)


# Operands whose class, or a mode, refuses ---------------------------------------------------------------------------

OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift", "eq",
    "ne", "lt", "le", "gt", "ge", "iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "imatmul", "iand",
    "ior", "ixor", "ilshift", "irshift",
)  # fmt: skip


def refusing(torch: Any, kind: str) -> Any:
    """A maker of operands of a class that refuses every operator, in one of several ways."""

    def refuse(func: Any) -> Any:
        if kind == "raises":
            raise TypeError(f"{func.__name__} is not for me")
        return NotImplemented

    if kind == "functions":

        class Functions(torch.Tensor):  # type: ignore[misc]
            @classmethod
            def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                return refuse(func)

        return lambda: torch.ones(2, 2).as_subclass(Functions)

    class Operators(torch.Tensor):  # type: ignore[misc]
        @staticmethod
        def __new__(cls: Any) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, (2, 2))

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return refuse(func)

    if kind == "both":
        Operators.__torch_function__ = classmethod(  # type: ignore[method-assign]
            lambda cls, func, types, args=(), kwargs=None: super(Operators, cls).__torch_function__(
                func, types, args, kwargs or {}
            )
        )
    return Operators


def of_each_pair(torch: Any, make: Any, name: str) -> list[str]:
    """What an operator of Python gives or raises, for pairs with an operand that refuses."""
    told, function = [], getattr(operator, name)
    for left, right in ((1, 1), (1, 0), (0, 1), (1, 2), (2, 1), (1, 3)):
        operands = {1: make, 0: lambda: 1, 2: lambda: torch.ones(2, 2), 3: lambda: None}
        try:
            told.append(str(function(operands[left](), operands[right]())))
        except Exception as error:  # noqa: BLE001  # whatever is raised is what is compared
            told.append(f"{type(error).__name__}: {error}".replace("glasstorch", "torch"))
    return told


@pytest.mark.parametrize("kind", ["functions", "operators", "both", "raises"])
def test_operands_whose_class_refuses_are_refused_in_pytorchs_words(require: Require, kind: str) -> None:
    torch = require("torch")
    for name in OPERATORS:
        assert of_each_pair(glasstorch, refusing(glasstorch, kind), name) == of_each_pair(
            torch, refusing(torch, kind), name
        )


def test_methods_of_a_class_that_refuses_say_so_and_operators_called_as_methods_do_not(require: Require) -> None:
    def program(torch: Any) -> list[str]:
        told, make = [], refusing(torch, "operators")
        for name in ("__add__", "__radd__", "__iadd__", "__eq__", "__lt__", "__matmul__", "__and__", "add", "eq", "lt"):
            try:
                told.append(str(getattr(make(), name)(make())))
            except TypeError as error:
                told.append(str(error).replace("glasstorch", "torch"))
        return told

    assert program(glasstorch) == program(require("torch"))


@pytest.mark.parametrize("kind", ["operators", "functions"])
def test_an_operator_under_a_mode_that_refuses_is_refused_in_pytorchs_words(require: Require, kind: str) -> None:
    def program(torch: Any) -> list[list[str]]:
        if kind == "operators":
            base, name = torch.utils._python_dispatch.TorchDispatchMode, "__torch_dispatch__"
        else:
            base, name = torch.overrides.TorchFunctionMode, "__torch_function__"
        refuse = lambda self, func, types, args=(), kwargs=None: NotImplemented  # noqa: E731
        plain = torch.ones(2, 2)
        mode = type("Refuse", (base,), {name: refuse, "__repr__": lambda self: "Refuse()"})
        with mode():
            return [of_each_pair(torch, lambda: plain, one) for one in ("add", "lt", "iadd", "matmul", "eq")]

    assert program(glasstorch) == program(require("torch"))
