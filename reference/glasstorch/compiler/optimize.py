"""How is a function, a method, a module or any other callable compiled?

Mirrors: torch/_dynamo/eval_frame.py (optimize, _TorchDynamoContext)
Differs: each call of `optimize` makes graphs of its own; PyTorch keeps them with the code of the function.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper, wraps
from types import FunctionType, MethodType
from typing import Any

from glasstorch.compiler.backends import DEFAULT, lookup_backend
from glasstorch.compiler.bytecode.assembled import library
from glasstorch.compiler.bytecode.calls import computes
from glasstorch.compiler.captured import Optimized
from glasstorch.compiler.compilation import Backend, Compilation
from glasstorch.compiler.marks import innermost, stands_for, why_disabled
from glasstorch.compiler.optimized_module import OptimizedModule, calling
from glasstorch.nn.modules.module import Module

if path := os.environ.get("GLASSTORCH_REPORT"):
    from glasstorch.compiler.reports import until_the_end

    until_the_end(path)


def optimize(
    backend: Any = DEFAULT,
    *,
    nopython: bool = False,
    dynamic: bool | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    guard_filter_fn: Any = None,
) -> Callable[[Any], Any]:
    """A decorator that does what `compile` does."""
    if disable:
        return lambda target: target
    compiler = lookup_backend(backend)
    library()  # where it is missing, that is said now, and not after a graph has run
    return _Decorator(compiler, nopython, recompile_limit, dynamic, guard_filter_fn)


@dataclass(frozen=True)
class _Decorator:
    """What compiles with these options. It is pickled, as a compiled module is, if the backend can be."""

    compiler: Backend
    fullgraph: bool
    recompile_limit: int | None
    dynamic: bool | None
    guard_filter: Any = None

    def __call__(self, target: Any) -> Any:
        """The target, compiled."""
        target = innermost(target)
        if not callable(target):
            raise AssertionError(f"A callable function is expected, but {type(target)} is provided.")
        if isinstance(target, Module):
            return stands_for(OptimizedModule(target, self), target)
        if isinstance(target, type):
            return _class(target, self)
        if isinstance(target, MethodType):
            return _method(target, self)
        if why_disabled(target) is not None:
            return target
        if not isinstance(target, FunctionType) or computes(target):
            return _other(target, self)
        compilation = Compilation(self.compiler, self.fullgraph, self.recompile_limit, self.dynamic)
        compilation.guard_filter = self.guard_filter
        run = Optimized(target, compilation)

        @wraps(target)
        def compiled(*args: Any, **kwargs: Any) -> Any:
            return run(*args, **kwargs)

        compiled._optimized = run  # type: ignore[attr-defined]
        compiled._is_torch_compile = True  # type: ignore[attr-defined]
        return stands_for(compiled, target)


def _class(kind: type, decorate: Callable[[Any], Any]) -> type:
    """A class whose instances run by graphs when they are called."""
    name = "forward" if issubclass(kind, Module) else "__call__"
    if isinstance(vars(kind).get(name), FunctionType):
        setattr(kind, name, decorate(vars(kind)[name]))
    return kind


def _method(target: MethodType, decorate: Callable[[Any], Any]) -> Callable[..., Any]:
    """A bound method: its function is compiled, and the object is its first argument."""
    owner, function = target.__self__, target.__func__
    if isinstance(owner, Module) and function is Module._call_impl:  # that of `Module.compile`
        return calling(owner, decorate)
    run = decorate(function)

    @wraps(target)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        return run(owner, *args, **kwargs)

    compiled._optimized = getattr(run, "_optimized", None)  # type: ignore[attr-defined]
    return stands_for(compiled, target)  # type: ignore[no-any-return]


def _other(target: Any, decorate: Callable[[Any], Any]) -> Callable[..., Any]:
    """A callable that is not written in Python, or an object with a `__call__`: a function that calls it."""
    own = type(target).__call__
    if isinstance(own, FunctionType) and why_disabled(own) is None:
        run = decorate(own)

        def inner(*args: Any, **kwargs: Any) -> Any:
            return run(target, *args, **kwargs)
    else:

        def call(*args: Any, **kwargs: Any) -> Any:
            return target(*args, **kwargs)

        run = decorate(call)

        def inner(*args: Any, **kwargs: Any) -> Any:
            return run(*args, **kwargs)

    if hasattr(target, "__name__"):
        update_wrapper(inner, target)
    inner._optimized = getattr(run, "_optimized", None)  # type: ignore[attr-defined]
    return stands_for(inner, target)  # type: ignore[no-any-return]


def optimize_assert(backend: Any = DEFAULT, **options: Any) -> Callable[[Any], Any]:
    """`optimize` where a call that does not become one graph is an error."""
    return optimize(backend, nopython=True, **options)
