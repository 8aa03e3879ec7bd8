"""Under which names does PyTorch switch `__torch_function__` off, and hold the stack of its modes?

Mirrors: torch/csrc/utils/disable_torch_function.cpp, torch/csrc/autograd/init.cpp (_push_on_torch_function_stack ...)
"""

from __future__ import annotations

from typing import Any

from glasstorch.calls.overloaded import DisableTorchFunction as DisableTorchFunction
from glasstorch.calls.overloaded import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from glasstorch.calls.overloaded import _disabled_torch_function_impl as _disabled_torch_function_impl
from glasstorch.calls.overloaded import _EnableTorchFunction as _EnableTorchFunction
from glasstorch.calls.overloaded import are_all_disabled as _is_torch_function_all_disabled
from glasstorch.calls.overloaded import has_torch_function as _has_torch_function
from glasstorch.calls.overloaded import has_torch_function_unary as _has_torch_function_unary
from glasstorch.calls.overloaded import has_torch_function_variadic as _has_torch_function_variadic
from glasstorch.calls.overloaded import is_a_mode_on as _is_torch_function_mode_enabled
from glasstorch.calls.overloaded import is_enabled as _is_torch_function_enabled
from glasstorch.calls.overloaded import mode_stack
from glasstorch.calls.overloaded import pop_mode as _pop_torch_function_stack
from glasstorch.calls.overloaded import push_mode as _push_on_torch_function_stack

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "_EnableTorchFunction",
    "_disabled_torch_function_impl",
    "_get_function_stack_at",
    "_has_torch_function",
    "_has_torch_function_unary",
    "_has_torch_function_variadic",
    "_is_torch_function_all_disabled",
    "_is_torch_function_enabled",
    "_is_torch_function_mode_enabled",
    "_len_torch_function_stack",
    "_pop_torch_function_stack",
    "_push_on_torch_function_stack",
]


def _len_torch_function_stack() -> int:
    """How many modes are on in this thread."""
    return len(mode_stack.get())


def _get_function_stack_at(level: int) -> Any:
    """A mode of the stack, 0 the outermost."""
    modes = mode_stack.get()
    if not 0 <= level < len(modes):
        raise RuntimeError(f"Tried to get stack at idx that's too big: {level}; the stack has {len(modes)} modes")
    return modes[level]
