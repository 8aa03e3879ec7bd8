"""Is a method the code of its function, under a name by which a refusal knows it?"""

from __future__ import annotations

import inspect

import glasstorch
from glasstorch.operators.as_method import as_method, is_called_as_method


def asked(input: object, dim: int = 3, *, keepdim: bool = True) -> tuple[object, int, bool, bool]:
    """Whether this is called as a method."""
    return input, dim, keepdim, is_called_as_method(__name__)


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


def test_no_function_of_a_module_that_runs_nothing_is_a_method() -> None:
    assert not is_called_as_method("no module")
