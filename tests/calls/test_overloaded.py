"""Is an object with `__torch_function__` asked in PyTorch's order, and by its rules?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch

Require = Callable[[str], Any]


def program(torch: Any) -> list[object]:
    """What a program that asks its arguments is told."""
    overrides, asked = torch.overrides, []

    class Base:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(
                (cls.__name__, [kind.__name__ for kind in types], [type(arg).__name__ for arg in args], kwargs)
            )
            return cls.answer(func)

        @classmethod
        def answer(cls, func: Any) -> Any:
            return NotImplemented

    class Derived(Base):
        pass

    class Other(Base):
        @classmethod
        def answer(cls, func: Any) -> Any:
            return f"Other answers for {func.__name__}"

    def double(x: Any, *rest: Any, scale: int = 2) -> Any:
        if overrides.has_torch_function((x, *rest)):
            return overrides.handle_torch_function(double, (x, *rest), x, *rest, scale=scale)
        return scale * x

    told: list[object] = [double(3), double(torch.ones(2)).tolist()]
    told += [double(Other(), scale=3), double(Base(), Derived(), Other()), double(1, Derived(), Other(), Base())]
    with pytest.raises(TypeError) as refused:
        double(Base(), Derived(), Base())
    told += [str(refused.value).replace(double.__module__, "program"), asked]
    told += [torch.nn.functional.has_torch_function_unary(Base()), torch.nn.functional.has_torch_function_unary(1)]
    told += [
        torch.nn.functional.has_torch_function_variadic(1, Base()),
        overrides.has_torch_function((torch.ones(2), 1)),
    ]
    return told


def test_arguments_are_asked_as_in_pytorch(require: Require) -> None:
    torch = require("torch")
    assert repr(program(glasstorch)) == repr(program(torch))


def test_a_subclass_is_asked_before_its_base() -> None:
    *_, refusal, asked, one, none, several, tensors = program(glasstorch)
    assert isinstance(asked, list)
    assert [name for name, *_ in asked] == ["Other", "Derived", "Other", "Derived", "Other", "Derived", "Base"]
    assert "no implementation found for 'program.double' on types that implement __torch_function__" in str(refusal)
    assert (one, none, several, tensors) == (True, False, True, False)


def test_a_plain_method_is_warned_of(require: Require) -> None:
    class Late:
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> str:
            return "answered"

    def function(x: object) -> None: ...

    for overrides in (glasstorch.overrides, require("torch").overrides):
        with pytest.warns(DeprecationWarning, match="as a plain method is deprecated"):
            assert overrides.handle_torch_function(function, (Late(),)) == "answered"


@pytest.mark.parametrize(
    "mixed",
    [
        lambda ours, theirs: theirs.add(ours.ones(2), 1),
        lambda ours, theirs: theirs.nn.functional.relu(ours.ones(2)),
        lambda ours, theirs: theirs.ones(2) + ours.ones(2),
        lambda ours, theirs: ours.ones(2) + theirs.ones(2),
        lambda ours, theirs: ours.nn.functional.relu(theirs.ones(2)),
    ],
    ids=["a function in C", "a function in Python", "theirs first", "ours first", "our function"],
)
def test_tensors_of_two_libraries_do_not_ask_each_other_for_ever(
    mixed: Callable[[Any, Any], Any], require: Require
) -> None:
    with pytest.raises(TypeError):
        mixed(glasstorch, require("torch"))
