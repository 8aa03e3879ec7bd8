"""Which argument of a call answers for the whole call, and how is it asked?

Mirrors: torch/overrides.py (handle_torch_function), torch/csrc/utils/disable_torch_function.cpp (has_torch_function)
Differs: `Tensor` has no `__torch_function__`, so a subclass has one only if it defines it. The functions of this
library do not ask: these serve programs that ask, as PyTorch's own Python functions do. There are no modes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any


def has_torch_function(args: Iterable[object]) -> bool:
    """Whether the type of one of the arguments defines `__torch_function__`."""
    return any(_answers(type(arg)) for arg in args)


def has_torch_function_unary(arg: object) -> bool:
    """The same for one argument."""
    return _answers(type(arg))


def has_torch_function_variadic(*args: object) -> bool:
    """The same for arguments that are given one by one."""
    return has_torch_function(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[object], *args: object, **kwargs: object
) -> Any:
    """The answer to `public_api(*args, **kwargs)` of the first relevant argument that does not say NotImplemented.

    Arguments are asked from left to right, those of a subclass before those of its bases, and one of each type. Where
    none answers, TypeError names the function and the types.
    """
    asked = _in_order(relevant_args)
    types = tuple(map(type, asked))
    for arg in asked:
        method = arg.__torch_function__
        if getattr(method, "__self__", None) is arg:
            warnings.warn(
                "Defining your `__torch_function__ as a plain method is deprecated and "
                "will be an error in future, please define it as a classmethod.",
                DeprecationWarning,
                stacklevel=2,
            )
        answer = method(public_api, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    raise TypeError(
        f"no implementation found for '{public_api.__module__}.{public_api.__name__}' on types that implement "
        f"__torch_function__: {list(types)}"
    )


def _answers(kind: type) -> bool:
    return hasattr(kind, "__torch_function__")


def _in_order(args: Iterable[object]) -> list[Any]:
    """The arguments to ask: one of each type that answers, a subclass before its bases."""
    found: list[object] = []
    for arg in args:
        if _answers(type(arg)) and all(type(arg) is not type(other) for other in found):
            before = (i for i, other in enumerate(found) if isinstance(arg, type(other)))
            found.insert(next(before, len(found)), arg)
    return found
