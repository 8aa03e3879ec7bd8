"""How does every operator get an entry for the tracer before the JIT is imported?

Mirrors: the fallback registered in torch/csrc/autograd/TraceTypeManual.cpp (general_trace_function)
Differs: the kernel imports `jit/tracer.py` when it is first called; programs that trace nothing never load the JIT.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from glasstorch.core.keys import DispatchKey
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel, Operator, registry


def trace_operator(keys: int, operator: Operator, *positional: Any, **named: Any) -> Any:
    """Record a call of any operator, and run it."""
    return import_module("glasstorch.jit.tracer").trace_operator(keys, operator, *positional, **named)


def register_tracer() -> None:
    """Register the fallback for every operator."""
    registry.fallbacks[DispatchKey.Tracer] = Kernel(
        trace_operator, DispatchKey.Tracer, caller(0), takes_keys=True, by_user=True
    )
    registry.changed()
