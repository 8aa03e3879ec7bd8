"""What does a call give whose tensors are of one class that only inherits its `__torch_function__`?

Mirrors: torch/_tensor.py (Tensor.__torch_function__, _convert)
Differs: PyTorch asks such a class as any other. Here its answer is known, and the call is run at once.

# Note [An heir's answer]
A class of tensors that says nothing of calls inherits Tensor's `__torch_function__`, which is the plain form of what is
here (`calls/of_subclasses.py`): no type is asked within the call, and its result becomes an instance of the class. For
that it needs neither the types, nor the arguments as they were written, nor a handler. The short way is taken where no
mode is on, the arguments are of plain types and of one such class, and types are asked at all. Others are asked.

A result that nobody else holds yet is made an instance of the class itself. `as_subclass` would make a second tensor on
the same storage, for the sake of those who hold the first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from glasstorch.calls.overloaded import (
    ENABLED,
    NO_SUBCLASSES,
    NOTHING,
    SKIP_ONE,
    UNASKED,
    mode_stack,
    switched_off,
    with_elements,
)
from glasstorch.core.plain_types import HEIRS, PLAIN, QUIET
from glasstorch.core.tensor_impl import TensorImpl


def known_answer(
    unasked: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:  # hot path: benchmarks/library.py
    """The result of a function whose arguments are not asked, or only an heir among them; UNASKED if others are.

    `unasked` is the function as it is where nobody is asked.
    """
    off = switched_off.get()
    if off == NOTHING:
        return unasked(*args, **kwargs)
    if mode_stack.get() or off == SKIP_ONE:
        return UNASKED
    if off == ENABLED:
        kinds = {*map(type, args), *map(type, kwargs.values())} - QUIET
        if not kinds.isdisjoint((list, tuple)):
            kinds = {*map(type, with_elements((*args, *kwargs.values())))} - QUIET
        if kinds:
            kind = kinds.pop()
            return UNASKED if kinds or kind not in HEIRS else answer_of_heir(kind, unasked, args, kwargs)
    return unasked(*args, **kwargs)


def answer_of_heir(
    kind: Any, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:  # hot path: benchmarks/library.py
    """The result of a function as Tensor's `__torch_function__` of this class gives it; Note [An heir's answer]."""
    token = switched_off.set(NO_SUBCLASSES)
    try:
        result = function(*args, **kwargs)
        if type(result) is kind:
            return result
        if (
            type(result) in PLAIN
            and result._autograd_meta is None
            and sys.getrefcount(result) == BY_ONE_NAME
            and not isinstance(result, kind)
        ):
            try:
                result.__class__ = kind
            except TypeError:  # its instances have fields for which a tensor has no room
                return converted(result, kind)
            return result
        return converted(result, kind)
    finally:
        switched_off.reset(token)


def converted(result: Any, cls: Any) -> Any:
    """A result whose tensors are of the class, those in lists and tuples included."""
    if isinstance(result, TensorImpl) and not isinstance(result, cls):
        return result.as_subclass(cls)  # type: ignore[attr-defined]
    if isinstance(result, tuple | list):
        return type(result)(converted(value, cls) for value in result)
    return result


def _references_by_one_name() -> int:
    value = object()
    return sys.getrefcount(value)


BY_ONE_NAME: Final = _references_by_one_name()  # what is counted for a value that one variable holds, and nobody else
