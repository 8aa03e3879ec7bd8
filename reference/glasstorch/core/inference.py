"""Are new tensors inference tensors, which autograd does not track?

Mirrors: c10/core/InferenceMode.h, c10/core/AutogradState.h, TensorImpl::is_inference in c10/core/TensorImpl.h
Differs: the guard itself is in autograd/modes.py.

An inference tensor lacks the keys ADInplaceOrView and Autograd, and counts no versions. Views are the exception: they
take the keys of their base, so that a view of a normal tensor is a normal tensor even here. What is detached from an
inference tensor outside of the mode is one, too, but counts versions of its own, and may be written to.
"""

from __future__ import annotations

from contextvars import ContextVar

from glasstorch.core.keys import ADINPLACEORVIEW, AUTOGRAD_AND_NESTED

mode: ContextVar[bool] = ContextVar("inference_mode", default=False)
entered = False  # whether the mode was ever entered; until then tensors are made without checking for it


def is_inference_mode_enabled() -> bool:
    """Whether new tensors are inference tensors."""
    return mode.get()


def set_inference_mode(enabled: bool) -> None:
    """Enter or leave the mode in this thread or task."""
    global entered
    entered = True
    mode.set(enabled)


def keys_of_new(keys: int) -> int:
    """The keys that a tensor made now has, given those that it would have outside the mode."""
    return keys & ~(ADINPLACEORVIEW | AUTOGRAD_AND_NESTED) if mode.get() else keys
