"""Which function is captured in place of another one, of which nothing is known?

Mirrors: torch/_dynamo/decorators.py (substitute_in_graph)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

_substitutes: Final[dict[int, tuple[Any, FunctionType]]] = {}  # by identity; the originals are kept alive


def substitute_in_graph(
    original_fn: Any, *, can_constant_fold_through: bool = False, skip_signature_check: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: where `original_fn` is called, the function below is captured. It must do the same.

    `can_constant_fold_through` changes nothing: a call with constants is captured too.
    """
    if not callable(original_fn) or isinstance(original_fn, type):
        raise TypeError(f"substitute_in_graph expects a function but got {type(original_fn)!r}")

    def decorate(traceable_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not isinstance(traceable_fn, FunctionType):
            raise TypeError(f"@substitute_in_graph(...) expects a function but got {type(traceable_fn)!r}")
        if not skip_signature_check:
            _compare(original_fn, traceable_fn)
        if id(original_fn) in _substitutes:
            raise ValueError(
                f"Duplicate polyfill handlers for {original_fn}: already handled by {_substitutes[id(original_fn)][1]}"
            )
        _substitutes[id(original_fn)] = original_fn, traceable_fn
        return traceable_fn

    return decorate


def substitute_of(fn: Any) -> FunctionType | None:
    """The function that is captured in place of this one; None for itself."""
    found = _substitutes.get(id(fn))
    return found[1] if found is not None else None


def forget(fn: Any) -> None:
    """Capture a function as itself again."""
    _substitutes.pop(id(fn), None)


def _compare(original: Callable[..., Any], traceable: Callable[..., Any]) -> None:
    """TypeError where the parameters differ. Some functions in C do not tell theirs."""
    try:
        ours, theirs = inspect.signature(traceable), inspect.signature(original)
    except ValueError:
        return
    if _facts(ours) != _facts(theirs):
        raise TypeError(f"Signature mismatch between {original} and {traceable}: {theirs} != {ours}")


def _facts(signature: inspect.Signature) -> list[tuple[Any, ...]]:
    only = inspect.Parameter.POSITIONAL_ONLY
    return [("" if p.kind is only else p.name, p.kind, p.default) for p in signature.parameters.values()]
