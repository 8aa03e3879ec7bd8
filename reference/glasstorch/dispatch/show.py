"""How does a program print each kernel that its calls pass through?

Mirrors: TORCH_SHOW_DISPATCH_TRACE (show_dispatch_trace and _print_dispatch_trace in
    aten/src/ATen/core/dispatch/Dispatcher.h)
Differs: works in every build, where PyTorch's package for users prints nothing. A redispatch is known by the operator
    and the keys of the kernel that makes it. A key that falls through is never shown.

With GLASSTORCH_SHOW_DISPATCH_TRACE=1 in the environment, each hop of each call is a line of standard error, indented by
the kernels that it runs in. Without it, the entries of the tables are the kernels themselves.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from glasstorch.core.keys import ALL_BACKENDS, FUNCTIONALITY_BIT, DispatchKey
from glasstorch.dispatch.operator import Boxed, Operator, registry
from glasstorch.dispatch.resolve import Resolution

DENSE: Final = FUNCTIONALITY_BIT["Dense"]
VARIABLE: Final = "GLASSTORCH_SHOW_DISPATCH_TRACE"

Wrap = Callable[[Operator, Resolution], Boxed]


def is_shown(text: str) -> bool:
    """What the environment variable asks for: whether the kernels of all calls are printed."""
    if text not in ("", "0", "1"):
        raise ValueError(f"{VARIABLE}={text!r}: expected 1 (print every kernel that runs) or 0 (print nothing)")
    return text == "1"


SHOWN: Final = is_shown(os.environ.get(VARIABLE, ""))  # read once

_running = threading.local()  # .calls: the operators and key sets of the kernels that run, the innermost last


def around(wrap: Wrap | None) -> Wrap | None:
    """What makes the entries of tables, given what else does so; None where the kernels are the entries."""
    return partial(_showing, wrap) if SHOWN else wrap


def _showing(wrap: Wrap | None, operator: Operator, resolution: Resolution) -> Boxed:
    """The table entry that prints a line and then runs the kernel."""
    run = resolution.entry if wrap is None else wrap(operator, resolution)
    # BackendSelect finds a backend that no argument had; any other kernel passes on keys that its own set has.
    found = ALL_BACKENDS | DENSE if resolution.choice.key is DispatchKey.BackendSelect else 0
    said = f"op=[{operator.name}], key=[{resolution.choice.key.name}]\n"

    def entry(keys: int, *arguments: Any) -> Any:
        calls = _running.__dict__.setdefault("calls", [])
        within = bool(calls) and calls[-1][0] is operator and not keys & ~calls[-1][1]
        sys.stderr.write(f"{' ' * (len(calls) + 1)}[{'redispatch' if within else 'call'}] {said}")
        calls.append((operator, keys | found))
        try:
            return run(keys, *arguments)
        finally:
            calls.pop()

    return entry


registry.wrap = around(None)
