"""Is a graph optimised before it runs, and which fuser compiles its fused nodes?

Mirrors: torch/jit/_fuser.py (optimized_execution, fuser), torch/csrc/jit/runtime/graph_executor.cpp
    (setGraphExecutorOptimize), torch/csrc/jit/passes/tensorexpr_fuser.cpp (setTensorExprFuserEnabled)
Differs: ContextVars, separate for each thread, where PyTorch's fusers are switched for the whole process. The fusers
    are named after the code that they generate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

# The best available one; a loop in C++; a loop over blocks in NumPy; no fusion.
FUSERS: Final = ("default", "cpp", "numpy", "none")

optimize: ContextVar[bool] = ContextVar("optimize", default=True)
fuser_name: ContextVar[str] = ContextVar("fuser_name", default="default")


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """In the `with` block, traced functions run their graphs after all passes, or as they were traced."""
    token = optimize.set(should_optimize)
    try:
        yield
    finally:
        optimize.reset(token)


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """In the `with` block, fused nodes run code of this one of FUSERS; ValueError for another name.

    With "none" no nodes are fused. Code from other fusers is kept, and used again after the block.
    """
    if name not in FUSERS:
        raise ValueError(f"unrecognized fuser option (name: {name}); expected one of {', '.join(FUSERS)}")
    token = fuser_name.set(name)
    try:
        yield
    finally:
        fuser_name.reset(token)
