"""How does one argument choose between two functions?

Mirrors: torch/_jit_internal.py (boolean_dispatch)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str | None,
    func_name: str | None,
) -> Callable[..., Any]:
    """A function that hands all its arguments to one of two, by that with this name or index.

    Its documentation is that of `if_false`. Errors about arguments name the function that was chosen.
    """

    def chosen(*args: Any, **kwargs: Any) -> Any:
        flag = kwargs[arg_name] if arg_name in kwargs else args[arg_index] if arg_index < len(args) else default
        return if_true(*args, **kwargs) if flag else if_false(*args, **kwargs)

    chosen.choices = (if_true, if_false)  # type: ignore[attr-defined]
    chosen.asks = True  # type: ignore[attr-defined]  # that is: each of the two functions asks
    chosen.__doc__ = if_false.__doc__ or if_true.__doc__
    if module_name is not None:
        chosen.__module__ = module_name
    if func_name is not None:
        chosen.__name__ = chosen.__qualname__ = func_name
    return chosen
