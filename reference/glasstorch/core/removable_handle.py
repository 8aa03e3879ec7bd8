"""How is a hook removed?

Mirrors: torch/utils/hooks.py (RemovableHandle)
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

Hooks = dict[int, Any]


class RemovableHandle:
    """What registering a hook returns: `remove()`, or the end of a `with` block, removes the hook.

    `extra_dict` is a dictionary, or a list of them, whose entry of the same id is removed too.
    """

    next_id = 0

    def __init__(self, hooks_dict: Hooks, *, extra_dict: Hooks | Sequence[Hooks] = ()) -> None:
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        # Weak, so that a handle kept somewhere does not keep the module alive.
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        extra = [extra_dict] if isinstance(extra_dict, dict) else extra_dict
        self.extra_dict_ref = tuple(weakref.ref(one) for one in extra)

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> Any:
        return self.hooks_dict_ref(), self.id, tuple(reference() for reference in self.extra_dict_ref)

    def __setstate__(self, state: Any) -> None:
        hooks, self.id, extra = state
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(weakref.ref(one) for one in extra)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()
