"""Which functions require sizes or dimensions as one list, though their method also accepts loose ints?

Mirrors: torch/csrc/utils/python_arg_parser.cpp (FunctionSignature::parse, allow_varargs_intlist), where a function's
    first parameter is the tensor, so that only methods accept loose ints
Differs: a wrapper around the method's function, which the rest of the library calls directly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import index
from typing import Any

from glasstorch.calls.parser import publish
from glasstorch.core.errors import ArgumentTypeError


def listed(method: Callable[..., Any], parameter: str) -> Callable[..., Any]:
    """A function whose argument after the tensor must be one list, called `parameter` in errors.

    >>> import glasstorch as torch
    >>> torch.flip(torch.tensor([1, 2]), 0)
    Traceback (most recent call last):
        ...
    TypeError: flip(): argument 'dims' (position 2) must be tuple of ints, not int
    """
    name = method.__name__

    @wraps(method)
    def function(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 2:
            raise ArgumentTypeError(f"{name}() takes 2 positional arguments but {len(args)} were given")
        if len(args) == 2 and _is_int(args[1]):
            raise ArgumentTypeError(
                f"{name}(): argument '{parameter}' (position 2) must be tuple of ints, not {type(args[1]).__name__}"
            )
        return method(*args, **kwargs)

    publish(function, method.__globals__[f"_parse_{name}"])  # others are asked about it
    return function


def _is_int(value: object) -> bool:
    if type(value) in (tuple, list):  # the common case
        return False
    try:
        index(value)  # type: ignore[arg-type]
    except (TypeError, RuntimeError):
        return False
    return True
