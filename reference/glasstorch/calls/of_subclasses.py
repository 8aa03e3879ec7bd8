"""What does a subclass of Tensor answer if it says nothing else?

Mirrors: torch/_tensor.py (Tensor.__torch_function__, _convert), torch/overrides.py (get_default_nowrap_functions)
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from typing import Any

from glasstorch.calls.asked_class import _TensorMeta
from glasstorch.calls.inherited import converted
from glasstorch.calls.overloaded import ENABLED, DisableTorchFunctionSubclass, switched_off

# The function that a class below runs for its arguments now.
_running: ContextVar[Any] = ContextVar("function_that_a_subclass_runs", default=None)


def __torch_function__(
    cls: type, func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """Run the function on its arguments, and make the tensors it returns instances of this class.

    NotImplemented if one of the types is of another family of subclasses, or if the function is of another library:
    such a function asks again where nobody is to be asked, and would do so for ever.
    """
    if switched_off.get() != ENABLED and _running.get() is func:
        return NotImplemented
    for kind in types:
        if not issubclass(cls, kind):
            return NotImplemented
    with DisableTorchFunctionSubclass():
        token = _running.set(func)
        try:
            result = func(*args, **(kwargs or {}))
        finally:
            _running.reset(token)
        if type(result) is cls or cls is _TensorMeta.root or func in functions_that_keep_types():
            return result
        return converted(result, cls)


@cache
def functions_that_keep_types() -> frozenset[Any]:
    """The functions whose results are not made instances of the subclass: they give a tensor that there is already."""
    tensor = _TensorMeta.root
    return frozenset((tensor._base.__get__, tensor.grad.__get__, tensor._grad.__get__))
