"""What does it mean that a tensor stays where it is?

Mirrors: torch/_dynamo/decorators.py (mark_static_address)
Differs: nothing depends on the mark, as there are no graphs of CUDA.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Say that a tensor's memory is the same in each call. With `guard`, it is an error if that changes: refused."""
    if not isinstance(t, Tensor):
        raise TypeError(f"mark_static_address expects a tensor but received {type(t)}")
    if guard:
        raise NotImplementedError("mark_static_address: glasstorch has no guards of addresses; guard=True is refused")
    t._dynamo_static_input_type = "unguarded"  # type: ignore[attr-defined]
