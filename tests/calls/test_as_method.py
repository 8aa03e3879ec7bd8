"""Is a method the code of its function, under a name by which a refusal knows it?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pytest

import glasstorch
from glasstorch.calls.as_method import as_method, is_called_as_method
from glasstorch.core.errors import ArgumentTypeError


def elsewhere(function: Callable[[], bool]) -> FunctionType:
    """A function as it were in a module of its own, which knows one other."""
    assert isinstance(function, FunctionType)
    return FunctionType(function.__code__, {"is_called_as_method": is_called_as_method})


ask_elsewhere = elsewhere(lambda: is_called_as_method())
ask_deeper_elsewhere = elsewhere(lambda: next(is_called_as_method() for _ in "1"))  # in a frame of its own


def asked(input: object, dim: int = 3, *, keepdim: bool = True) -> tuple[object, int, bool, bool]:
    """Whether this is called as a method."""
    assert ask_elsewhere() == ask_deeper_elsewhere()
    return input, dim, keepdim, ask_elsewhere()


class Owner:
    asked = as_method(asked)


def test_a_method_knows_itself_and_the_function_it_was_made_of_stays_one() -> None:
    owner = Owner()
    assert owner.asked(4, keepdim=False) == (owner, 4, False, True)
    assert asked(owner) == (owner, 3, True, False)


def test_a_method_has_the_signature_and_the_help_of_its_function() -> None:
    assert inspect.signature(Owner.asked) == inspect.signature(asked)
    assert (Owner.asked.__name__, Owner.asked.__qualname__) == ("asked", "Tensor.asked")
    assert Owner.asked.__doc__ == asked.__doc__
    assert glasstorch.Tensor.cumsum.__doc__ == glasstorch.cumsum.__doc__


def test_a_function_that_a_method_calls_is_none() -> None:
    class Calling:
        through = as_method(lambda self: asked(self))

    assert Calling().through()[-1] is False


CLASS_CALLS: dict[str, Callable[[Any], Any]] = {
    "add": lambda t: t.Tensor.add(1, 2),
    "mul": lambda t: t.Tensor.mul(1, t.ones(2)),
    "exp": lambda t: t.Tensor.exp([1.0]),
    "sum": lambda t: t.Tensor.sum("a", 0),
    "view": lambda t: t.Tensor.view(3, 3),
}


@pytest.mark.parametrize("name", CLASS_CALLS)
def test_a_method_asked_of_the_class_takes_a_tensor_first(name: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    with pytest.raises(TypeError) as theirs:
        CLASS_CALLS[name](torch)
    with pytest.raises(ArgumentTypeError) as ours:
        CLASS_CALLS[name](glasstorch)
    assert f"{ours.value}" == f"{theirs.value}; expected a Tensor first".replace("torch._C.TensorBase", "Tensor")


def test_a_function_still_takes_a_number_for_its_first_tensor() -> None:
    assert glasstorch.pow(2, glasstorch.ones(2)).tolist() == [2, 2]
    assert glasstorch.add(1, 2).item() == 3
