"""How is a hook removed?

Mirrors: torch/utils/hooks.py (RemovableHandle)
"""

from __future__ import annotations

import itertools
import weakref
from collections import OrderedDict
from types import TracebackType
from typing import Any, Self


class RemovableHandle:
    """What registering a hook returns: `remove()`, or the end of a `with` block, removes the hook."""

    __slots__ = ("__weakref__", "_hooks", "_more", "id")
    _ids = itertools.count()

    def __init__(self, hooks: OrderedDict[int, Any], *more: OrderedDict[int, Any]) -> None:
        self.id = next(self._ids)
        # Weak, so that a handle kept somewhere does not keep the module alive.
        self._hooks = weakref.ref(hooks)
        self._more = tuple(weakref.ref(d) for d in more)

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        for reference in (self._hooks, *self._more):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()
