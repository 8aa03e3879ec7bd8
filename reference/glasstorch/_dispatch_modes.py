"""Which of torch._C's names change the stack of dispatch modes, or switch `__torch_dispatch__` off?

Mirrors: torch/csrc/autograd/init.cpp (_push_on_torch_dispatch_stack and its kin, _DisableTorchDispatch),
    torch/csrc/utils/disable_torch_function.cpp (_disabled_torch_dispatch_impl, _disabled_torch_function_impl)
Differs: under torch's names for functions of dispatch/.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from glasstorch.dispatch import mode_stack
from glasstorch.dispatch.active_keys import exclude
from glasstorch.dispatch.mode_stack import _TorchDispatchModeKey as _TorchDispatchModeKey
from glasstorch.dispatch.mode_stack import at as _get_dispatch_stack_at
from glasstorch.dispatch.mode_stack import mode_with as _get_dispatch_mode
from glasstorch.dispatch.mode_stack import pop as _pop_torch_dispatch_stack
from glasstorch.dispatch.mode_stack import push as _push_on_torch_dispatch_stack
from glasstorch.dispatch.mode_stack import unset as _unset_dispatch_mode
from glasstorch.dispatch.python_fallback import OF_SUBCLASSES
from glasstorch.dispatch.python_fallback import _disabled_torch_dispatch_impl as _disabled_torch_dispatch_impl

__all__ = [
    "_DisableTorchDispatch",
    "_TorchDispatchModeKey",
    "_disabled_torch_dispatch_impl",
    "_disabled_torch_function_impl",
    "_get_dispatch_mode",
    "_get_dispatch_stack_at",
    "_len_torch_dispatch_stack",
    "_pop_torch_dispatch_stack",
    "_push_on_torch_dispatch_stack",
    "_set_dispatch_mode",
    "_unset_dispatch_mode",
]

_set_dispatch_mode = _push_on_torch_dispatch_stack  # of a mode that has a key


def _len_torch_dispatch_stack() -> int:
    """How many dispatch modes are on."""
    return len(mode_stack.modes.get())


def _DisableTorchDispatch() -> AbstractContextManager[None]:
    """Calls inside reach neither a dispatch mode nor the `__torch_dispatch__` of a class."""
    return exclude(OF_SUBCLASSES)


def _disabled_torch_function_impl(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """What a class says as its `__torch_function__` if it is not to be asked."""
    return func(*args, **(kwargs or {}))
