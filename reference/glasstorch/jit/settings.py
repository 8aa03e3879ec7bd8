"""What may be done with a graph before it runs: is it optimised, and who makes the code of fused nodes?

Mirrors: torch/jit/_fuser.py (optimized_execution, fuser), torch/csrc/jit/runtime/graph_executor.cpp
    (setGraphExecutorOptimize), torch/csrc/jit/passes/tensorexpr_fuser.cpp (setTensorExprFuserEnabled)
Differs: ContextVars, which each thread has of its own, where PyTorch's fusers are switched for the whole process. The
    fusers have the names of what they write.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

# The best that can be had; one loop in C++; one loop over blocks in NumPy; nothing is fused.
FUSERS: Final = ("default", "cpp", "numpy", "none")

optimize: ContextVar[bool] = ContextVar("optimize", default=True)
fuser_name: ContextVar[str] = ContextVar("fuser_name", default="default")


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Inside, traced functions run their graphs after all passes, or as they were traced."""
    token = optimize.set(should_optimize)
    try:
        yield
    finally:
        optimize.reset(token)


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """Inside, fused nodes of graphs run what this one of FUSERS makes; ValueError for another name.

    With "none" no nodes are fused. What was made earlier by another is kept, and used again outside.
    """
    if name not in FUSERS:
        raise ValueError(f"unrecognized fuser option (name: {name}); expected one of {', '.join(FUSERS)}")
    token = fuser_name.set(name)
    try:
        yield
    finally:
        fuser_name.reset(token)
