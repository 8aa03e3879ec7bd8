"""How does a function become a method, whose errors count positions after `self`?

Mirrors: FunctionParameter and PythonArgParser of torch/csrc/utils/python_arg_parser.h (a method's parser has no `self`)
Differs: both run the same code, and each finds a parser of its own under the parser's name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

from glasstorch.calls.parser import MethodParser, PythonFunction, publish

Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def names_of_methods(functions: Mapping[str, Any]) -> dict[str, Any]:
    """The namespace of a module of functions, with each function's parser replaced by a method's."""
    return {
        name: MethodParser(value) if isinstance(value, PythonFunction) else value for name, value in functions.items()
    }


def as_method(
    function: Callable[Concatenate[Any, Rest], Result], names: dict[str, Any]
) -> Callable[Concatenate[Any, Rest], Result]:
    """The same function with the global names of methods; a type checker sees the parameters after `self`.

    The code object is a copy: the interpreter's inline caches of global names belong to it, and must not be shared
    between two namespaces. A traceback shows it as `Tensor.add`.
    """
    assert isinstance(function, FunctionType)
    name = f"Tensor.{function.__name__}"
    method = FunctionType(function.__code__.replace(co_qualname=name), names, function.__name__, function.__defaults__)
    method.__kwdefaults__, method.__annotations__ = function.__kwdefaults__, function.__annotations__
    parser = names.get(f"_parse_{function.__name__}")
    if parser is not None:
        publish(method, parser)
    method.__doc__, method.__qualname__, method.__module__ = function.__doc__, name, function.__module__
    return method
