"""How does a program say that a function is not to be captured, or to be captured in another way?

Mirrors: torch/_dynamo/decorators.py
Differs: a function that is marked keeps the mark as an attribute, or, where it takes none, is kept in a table.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, Final

from glasstorch.nn.modules.module import Module

_in_graph: Final[dict[int, Any]] = {}  # functions that stay one call in a graph, by identity; kept alive


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None, wrapping: bool = True) -> Any:
    """A function that is not captured: a call of it is a graph break. Without a function, a decorator.

    A class is changed: its `__call__` and `__init__` are marked. With `recursive=False` the function itself is marked
    and returned.
    """
    if fn is None:
        return lambda function: disable(function, recursive, reason=reason)
    if not callable(fn):
        raise AssertionError(f"A callable function is expected, but {type(fn)} is provided.")
    fn = innermost(fn)
    if not recursive:
        fn._torchdynamo_disable = True
        fn._torchdynamo_disable_msg = reason
        return fn
    if isinstance(fn, type):
        for name in ("__init__", "__call__", "forward"):
            if isinstance(vars(fn).get(name), FunctionType):
                setattr(fn, name, disable(vars(fn)[name], reason=reason))
        return fn
    if isinstance(fn, Module):
        from glasstorch.compiler.optimized_module import OptimizedModule

        return OptimizedModule(fn, lambda target: disable(target, reason=reason))

    @wraps(fn)
    def _fn(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    _fn._torchdynamo_disable = True  # type: ignore[attr-defined]
    _fn._torchdynamo_disable_msg = reason  # type: ignore[attr-defined]
    return stands_for(_fn, fn)


def stands_for(wrapper: Any, original: Any) -> Any:
    """The wrapper, with a mark that leads to the original."""
    wrapper._torchdynamo_orig_callable = original
    wrapper._torchdynamo_wrapper_id = id(wrapper)
    return wrapper


def innermost(fn: Any) -> Any:
    """The function that a wrapper of this library stands for; marks that `functools.wraps` copied do not count."""
    while getattr(fn, "_torchdynamo_wrapper_id", None) == id(fn):
        fn = fn._torchdynamo_orig_callable
    return fn


def why_disabled(fn: Any) -> str | None:
    """Why a function must not be captured; None where it may be."""
    if getattr(fn, "_torchdynamo_disable", False) is not True:
        return None
    reason = getattr(fn, "_torchdynamo_disable_msg", None)
    shown = getattr(fn, "__qualname__", fn)
    return f"torch.compiler.disable: {shown} must not be captured{f': {reason}' if reason else ''}"


def allow_in_graph(fn: Any) -> Any:
    """Let a function, or each of a list, stay one call in a graph: what it does is not looked into."""
    if isinstance(fn, list | tuple):
        return [allow_in_graph(one) for one in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    _in_graph[id(fn)] = fn
    return fn


def disallow_in_graph(fn: Any) -> Any:
    """Let a call of a function, or of each of a list, be a graph break."""
    if isinstance(fn, list | tuple):
        return [disallow_in_graph(one) for one in fn]
    if not callable(fn):
        raise AssertionError("disallow_in_graph expects a callable")
    _in_graph.pop(id(fn), None)
    _disallowed[id(fn)] = fn
    return fn


_disallowed: Final[dict[int, Any]] = {}


def is_allowed_in_graph(fn: Any) -> bool:
    """Whether a function stays one call in a graph."""
    return _in_graph.get(id(fn)) is fn and fn is not None


def is_disallowed_in_graph(fn: Any) -> bool:
    """Whether a call of a function is a graph break."""
    return id(fn) in _disallowed


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be called once, while its caller is captured, and its result be a constant of the graph."""
    fn._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return fn


def is_constant_result(fn: Any) -> bool:
    """Whether a function's result is a constant of the graph."""
    return getattr(fn, "_dynamo_marked_constant", False) is True


def graph_break(msg: str = "") -> None:
    """End the graph here, where the program is captured; otherwise do nothing."""


def skip_frame(msg: str = "") -> None:
    """Leave the function that calls this as it is, where the program is captured; otherwise do nothing."""
