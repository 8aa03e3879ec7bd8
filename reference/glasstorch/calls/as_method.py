"""How does a function become a method, whose refusals count the places after the tensor?

Mirrors: FunctionParameter and PythonArgParser of torch/csrc/utils/python_arg_parser.h (a method's parser has no `self`)
Differs: both run the same code, and each finds a parser of its own under the parser's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

from glasstorch.calls.parser import MethodParser, PythonFunction

Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def names_of_methods(functions: Mapping[str, Any]) -> dict[str, Any]:
    """The names of a module of functions, with the parser of a method in the place of each function's."""
    return {
        name: MethodParser(value) if isinstance(value, PythonFunction) else value for name, value in functions.items()
    }


def as_method(
    function: Callable[Concatenate[Any, Rest], Result], names: dict[str, Any]
) -> Callable[Concatenate[Any, Rest], Result]:
    """The same function with the names of methods; a type checker sees all its parameters after the tensor.

    The code is a copy: the interpreter keeps with it where it found a name, which is not in the same place twice. A
    frame shows it as `Tensor.add`.
    """
    assert isinstance(function, FunctionType)
    name = f"Tensor.{function.__name__}"
    method = FunctionType(function.__code__.replace(co_qualname=name), names, function.__name__, function.__defaults__)
    method.__kwdefaults__, method.__annotations__ = function.__kwdefaults__, function.__annotations__
    method.__doc__, method.__qualname__, method.__module__ = function.__doc__, name, function.__module__
    return method
