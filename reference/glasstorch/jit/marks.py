"""Which marks for the compiler of Python source do programs carry?

Outside of that compiler they do nothing, in PyTorch too: a function that is marked is the function.

Mirrors: torch/_jit_internal.py (is_scripting, export, ignore, unused, Final, annotate)
Differs: there is no such compiler, so a mark is set, and nothing reads it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Final

__all__ = ["Final", "annotate", "export", "ignore", "is_scripting", "unused"]

Marked = Any  # a function, or for `unused` a property


def is_scripting() -> bool:
    """Whether the code that asks is being compiled: no."""
    return False


def export(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method as one to compile besides `forward`; it is returned itself."""
    return _marked(fn, "export")


def unused(fn: Marked) -> Marked:
    """Mark a function, or a property, as one that raises in compiled code; it is returned itself."""
    if isinstance(fn, property):
        for accessor in (fn.fget, fn.fset):
            if accessor is not None:
                _marked(accessor, "unused")
        return fn
    return _marked(fn, "unused")


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """Mark a function as one that compiled code leaves to Python; also `@ignore(drop=True)`."""
    if callable(drop):
        return _marked(drop, "ignore")
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    if drop:
        warnings.warn("ignore(True) has been deprecated. Use torch.jit.unused now.", FutureWarning, stacklevel=2)
    return lambda fn: _marked(fn, "unused" if drop else "ignore")


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value; the type is for a compiler."""
    return the_value


def _marked(fn: Callable[..., Any], mark: str) -> Callable[..., Any]:
    fn._torchscript_modifier = mark  # type: ignore[attr-defined]
    return fn
