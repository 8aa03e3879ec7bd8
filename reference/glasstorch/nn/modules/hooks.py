"""How are hooks kept, and run where something is registered?

Mirrors: torch/nn/modules/module.py (_WrappedHook), torch/utils/hooks.py
"""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from glasstorch.core.removable_handle import RemovableHandle

Hook = Callable[..., Any]


def add_hook(
    hooks: OrderedDict[int, Hook], hook: Hook, prepend: bool = False, *marks: OrderedDict[int, bool]
) -> RemovableHandle:
    """Register a hook, last or first; `marks` are dictionaries that may come to hold its id."""
    handle = RemovableHandle(hooks, extra_dict=marks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def as_hooks_want(hooks: OrderedDict[int, Hook], module: Any, name: str, value: Any) -> Any:
    """What is registered instead of a value, where hooks of all modules return something else."""
    for hook in hooks.values():
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


class _WrappedHook:
    """A hook that is given its module, which it holds weakly, so that the module's own dictionary is no cycle."""

    def __init__(self, hook: Hook, module: Any | None = None) -> None:
        functools.update_wrapper(self, hook)
        self.hook = hook
        self.with_module = module is not None
        self.module = None if module is None else weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.module is None:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "hook": self.hook,
            "with_module": self.with_module,
            "module": None if self.module is None else self.module(),
        }

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.hook, self.with_module = saved["hook"], saved["with_module"]
        if self.with_module and saved["module"] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        self.module = weakref.ref(saved["module"]) if self.with_module else None
