"""How is a compiled graph called?

Mirrors: torch/_functorch/_aot_autograd/utils.py (make_boxed_func, make_boxed_compiler, call_func_at_runtime_with_args)

A function that takes its arguments in one list, and empties the list, lets each be freed after its last use. Such a
function has the attribute `_boxed_call`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from glasstorch.core.pytree import tree_flatten

NOT_BOXED = (
    "Your compiler for AOTAutograd is returning a function that doesn't take boxed arguments. Please wrap it with "
    "functorch.compile.make_boxed_func or handle the boxed arguments yourself. See "
    "https://github.com/pytorch/pytorch/pull/83137#issuecomment-1211320670 for rationale."
)


def make_boxed_func(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one list of arguments."""

    def g(args: list[Any]) -> Any:
        return f(*args)

    g._boxed_call = True  # type: ignore[attr-defined]
    return g


def make_boxed_compiler(compiler: Callable[..., Any]) -> Callable[..., Any]:
    """A compiler whose functions take one list of arguments."""

    def f(fx_g: Any, inps: Any) -> Callable[..., Any]:
        return make_boxed_func(compiler(fx_g, inps))

    return f


def call(function: Callable[..., Any], args: list[Any]) -> list[Any]:
    """The results of a compiled function as a list. Warns if it takes its arguments one by one."""
    if getattr(function, "_boxed_call", False):
        found = function(list(args))
    else:
        warnings.warn(NOT_BOXED, stacklevel=4)
        found = function(*args)
    return list(found) if isinstance(found, list | tuple) else tree_flatten(found)[0]
