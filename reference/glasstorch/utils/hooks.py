"""Which helpers for hooks are in torch.utils?

Mirrors: torch/utils/hooks.py
Differs: re-exports, but for the mark of a hook that is not saved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from glasstorch.core.removable_handle import RemovableHandle as RemovableHandle
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.nn.modules.backward_hooks import BackwardHook as BackwardHook
from glasstorch.python_forms.pickling import warn_of_hooks as warn_if_has_hooks

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

Hook = TypeVar("Hook", bound=Callable[..., Any])


def unserializable_hook(f: Hook) -> Hook:
    """Mark a hook that is not saved, so that saving its tensor does not warn of it."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


__getattr__ = refuse_unknown_names(__name__)
