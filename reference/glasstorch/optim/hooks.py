"""Which functions run before and after the steps of all optimizers?

Mirrors: torch/optim/optimizer.py (register_optimizer_step_pre_hook, register_optimizer_step_post_hook,
    profile_hook_step)
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from glasstorch.core.removable_handle import RemovableHandle
from glasstorch.dispatch.record_block import recorded_as

Hooks = OrderedDict[int, Callable[..., Any]]

_global_optimizer_pre_hooks: Hooks = OrderedDict()
_global_optimizer_post_hooks: Hooks = OrderedDict()


def register(hooks: Hooks, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
    """Add a hook behind the others, or before them."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` runs before each step of every optimizer, and may return other arguments."""
    return register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` runs after each step of every optimizer."""
    return register(_global_optimizer_post_hooks, hook)


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """The step of a class of optimizers, between its hooks; a profile shows it as `Optimizer.step#SGD.step`."""

    @recorded_as(lambda self, *_: f"Optimizer.step#{type(self).__name__}.step")
    @functools.wraps(step)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        self = args[0]
        for pre_hook in (*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
            result = pre_hook(self, args, kwargs)
            if result is None:
                continue
            if not isinstance(result, tuple) or len(result) != 2:
                raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {result}.")
            args, kwargs = result
        returned = step(*args, **kwargs)
        for post_hook in (*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()):
            post_hook(self, args, kwargs)
        return returned

    wrapper.hooked = True  # type: ignore[attr-defined]
    return wrapper
