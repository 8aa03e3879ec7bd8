"""How does an object that is no tensor answer for a call, as `torch.overrides` lets it?

Mirrors: torch/overrides.py
Differs: re-exports of calls/overloaded.py, and what tells tensors and their methods from others. What lists functions
    (`get_overridable_functions` and its like) and modes of functions are missing.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function as handle_torch_function
from glasstorch.calls.overloaded import has_torch_function as has_torch_function
from glasstorch.calls.overloaded import has_torch_function_unary as has_torch_function_unary
from glasstorch.calls.overloaded import has_torch_function_variadic as has_torch_function_variadic
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__all__ = [
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "wrap_torch_function",
]


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor, or of a class that answers for calls as one."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether a function is one of Tensor's methods, or the `__get__` or `__set__` of one of its properties."""
    if getattr(func, "__name__", "") in ("__get__", "__set__", "__delete__"):
        return True
    return any(value is func for kind in Tensor.__mro__[:-1] for value in vars(kind).values())


def wrap_torch_function(dispatcher: Any) -> Any:
    """A decorator: the function asks the relevant arguments first, which `dispatcher(*args, **kwargs)` gives."""

    def decorate(function: Any) -> Any:
        from functools import wraps

        @wraps(function)
        def asked_first(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(asked_first, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return asked_first

    return decorate


__getattr__ = _refuse_unknown_names(__name__)
