"""Which hooks do all modules have in common?

Mirrors: torch/nn/modules/module.py (register_module_forward_hook and its like)
"""

from __future__ import annotations

from collections import OrderedDict

from glasstorch.core.removable_handle import RemovableHandle
from glasstorch.nn.modules.hooks import Hook, add_hook

_global_buffer_registration_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_parameter_registration_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_backward_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_is_full_backward_hook: bool | None = None  # None until the first backward hook is registered
_global_forward_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, buffer)` wherever a buffer is registered; what it returns replaces the buffer."""
    return add_hook(_global_buffer_registration_hooks, hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, submodule)` wherever a child is registered; what it returns replaces the child."""
    return add_hook(_global_module_registration_hooks, hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, name, param)` wherever a parameter is registered; what it returns replaces the parameter."""
    return add_hook(_global_parameter_registration_hooks, hook)


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, args)` before the `forward` of every module, before the module's own hooks."""
    return add_hook(_global_forward_pre_hooks, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after the `forward` of every module, before the module's own hooks.

    With `with_kwargs` the hook also receives the keyword arguments, after `args`; with `always_call` it runs
    even where `forward` raises an error.
    """
    handle = RemovableHandle(
        _global_forward_hooks,
        extra_dict=[_global_forward_hooks_always_called, _global_forward_hooks_with_kwargs],
    )
    _global_forward_hooks[handle.id] = hook
    if with_kwargs:
        _global_forward_hooks_with_kwargs[handle.id] = True
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Deprecated in PyTorch: use `register_module_full_backward_hook`."""
    return _add_backward_hook(hook, full=False)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_output)` where the gradients of a module's outputs are known, for every module."""
    return add_hook(_global_backward_pre_hooks, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` where the gradients of a module's inputs are known."""
    return _add_backward_hook(hook, full=True)


def _add_backward_hook(hook: Hook, full: bool) -> RemovableHandle:
    global _global_is_full_backward_hook
    if _global_is_full_backward_hook is not None and _global_is_full_backward_hook is not full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use "
            "only one of them."
        )
    _global_is_full_backward_hook = full
    return add_hook(_global_backward_hooks, hook)


def backward_hooks(full: bool) -> list[Hook]:
    """The backward hooks of all modules, if they are of this kind."""
    return list(_global_backward_hooks.values()) if _global_is_full_backward_hook is full else []
