"""Is a method the code of its function, under a name by which a refusal knows it?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.calls.as_method import as_method, names_of_methods
from glasstorch.calls.parser import MethodParser, PythonFunction
from glasstorch.core.errors import ArgumentTypeError

parse = PythonFunction("asked", ["abs"])


def asked(input: object, dim: int = 3, *, keepdim: bool = True) -> tuple[object, int, bool, bool]:
    """Whether this is called as a method."""
    return input, dim, keepdim, parse.is_method


NAMES = names_of_methods(globals())


class Owner:
    asked = as_method(asked, NAMES)


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
        through = as_method(lambda self: asked(self), NAMES)

    assert Calling().through()[-1] is False


def test_a_method_and_its_function_have_the_same_signatures() -> None:
    method = MethodParser(parse)
    assert method.signatures is parse.signatures
    assert method.out_signatures is parse.out_signatures
    assert repr(method) == repr(parse)


def test_places_are_counted_after_the_tensor_in_methods_alone() -> None:
    x = glasstorch.ones(2)
    with pytest.raises(TypeError, match=r"argument 'dim' \(position 1\)"):
        x.cumsum("a")
    with pytest.raises(TypeError, match=r"argument 'dim' \(position 2\)"):
        glasstorch.cumsum(x, "a")


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
