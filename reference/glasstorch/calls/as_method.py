"""How does a function become a method, whose refusals count the places after the tensor?

Mirrors: FunctionParameter and PythonArgParser of torch/csrc/utils/python_arg_parser.h (a method's parser has no `self`)
Differs: both run the same code; a method's carries a name of its own, by which a refusal knows it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

Rest = ParamSpec("Rest")
Result = TypeVar("Result")
METHOD = "Tensor."


def as_method(function: Callable[Concatenate[Any, Rest], Result]) -> Callable[Concatenate[Any, Rest], Result]:
    """The same function under a method's name; a type checker sees all its parameters after the tensor."""
    assert isinstance(function, FunctionType)
    name = METHOD + function.__name__
    code = function.__code__.replace(co_qualname=name)
    method = FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
    method.__kwdefaults__, method.__annotations__ = function.__kwdefaults__, function.__annotations__
    method.__doc__, method.__qualname__, method.__module__ = function.__doc__, name, function.__module__
    return method


def is_called_as_method() -> bool:
    """Whether it was a method that called into the module which asks."""
    frame: FrameType | None = sys._getframe(1)
    asking = frame.f_globals if frame else None
    while frame is not None and frame.f_globals is asking:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_qualname.startswith(METHOD)
