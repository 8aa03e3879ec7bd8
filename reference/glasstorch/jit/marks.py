"""What may a program say to the compiler of TorchScript?

Mirrors: torch/_jit_internal.py (unused, ignore, export, is_scripting, FunctionModifiers), torch/jit/__init__.py
    (annotate)
Differs: there is no such compiler. The marks are kept as PyTorch keeps them, and change nothing: in PyTorch, too, they
    mean nothing to a program that is run or traced.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from typing import Final as Final

UNUSED = "unused (ignored and replaced with raising of an exception)"
IGNORE = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
EXPORT = "export (compile this function even if nothing calls it)"


def _marked(fn: Any, mark: str) -> Any:
    fn._torchscript_modifier = mark
    return fn


def unused(fn: Any) -> Any:
    """A decorator: do not compile this function, method or property; calling it from compiled code is an error."""
    if isinstance(fn, property):
        for accessor in (fn.fget, fn.fset):
            if accessor is not None:
                _marked(accessor, UNUSED)
        return fn
    return _marked(fn, UNUSED)


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A decorator: leave this function as a call to Python; with `drop=True`, as `unused`."""
    if callable(drop):  # without brackets, `@ignore`, it is the function
        return _marked(drop, IGNORE)
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    if drop:
        warnings.warn("ignore(True) has been deprecated. Use torch.jit.unused now.", FutureWarning, stacklevel=2)
    return lambda fn: _marked(fn, UNUSED if drop else IGNORE)


def export(fn: Callable[..., Any]) -> Any:
    """A decorator: compile this method even if `forward` does not call it."""
    return _marked(fn, EXPORT)


def is_scripting() -> bool:
    """Whether the code runs compiled: never."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value; the type is for the compiler."""
    return the_value
