"""In which fake mode is a program?

Mirrors: torch/_guards.py (detect_fake_mode, active_fake_mode)
Differs: the state that a compiler keeps there is left out.
"""

from __future__ import annotations

from typing import Any

from glasstorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from glasstorch.core.pytree import tree_leaves
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.dispatch import mode_stack

__all__ = ["active_fake_mode", "detect_fake_mode"]


def detect_fake_mode(inputs: Any = None) -> FakeTensorMode | None:
    """The fake mode that is on, or that of the fake tensors among the inputs; None if there is neither.

    AssertionError if these are several.
    """
    stack = mode_stack.modes.get()
    found = [
        (mode, f"active fake mode {i}") for i, mode in enumerate(reversed(stack)) if isinstance(mode, FakeTensorMode)
    ]
    for i, value in enumerate(tree_leaves(inputs)):
        if isinstance(value, FakeTensor):
            found.append((value.fake_mode, f"fake tensor input {i}"))
    if not found:
        return None
    (first, first_name), *others = found
    for mode, name in others:
        if mode is not first:
            raise AssertionError(
                f"fake mode ({first}) from {first_name} doesn't match mode ({mode}) from {name}; expected one fake mode"
            )
    return first


def active_fake_mode() -> FakeTensorMode | None:
    """The fake mode that is on."""
    return detect_fake_mode()


__getattr__ = refuse_unknown_names("glasstorch._guards")
