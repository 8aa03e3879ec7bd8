"""How does NumPy compute without floating-point warnings while the user's settings stay unchanged?

Mirrors: nothing in PyTorch, whose kernels do not check the processor's floating-point flags

# Note [Quiet NumPy]
After each loop NumPy checks the processor's flags and warns, or raises, as `np.seterr` says. PyTorch never does: 1 / 0
is infinity. The settings live in a context variable, so a `contextvars.Context` of our own, in which they were once set
to "ignore", can run a ufunc without a change outside: `context.run(np.add, a, b)` costs about 20 ns, `with
np.errstate(...)` about 800. A context can be entered only once at a time; `idle` holds the contexts not in use, so that
threads, and finalisers that run during a ufunc, each take one or create one. A context left by an exception is not
returned; the next caller creates a new one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from typing import Any, ParamSpec, TypeVar

import numpy as np

from glasstorch.calls.overloaded import NOTHING, switched_off

P = ParamSpec("P")
R = TypeVar("R")
Run = Callable[..., Any]  # run(function, *args, **kwargs)


def new_run() -> Run:
    """The `run` of a fresh context in which NumPy ignores floating point errors."""
    context = Context()
    context.run(np.seterr, all="ignore")
    context.run(switched_off.set, NOTHING)  # what is switched off in the caller's context is not seen in this one
    return context.run


idle: list[Run] = [new_run()]


def quietly(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function that computes with NumPy, without warnings. See Note [Quiet NumPy]."""
    try:
        run = idle.pop()
    except IndexError:
        run = new_run()
    result: R = run(function, *args, **kwargs)
    idle.append(run)
    return result
