"""Which dispatch modes are in torch.utils?

Mirrors: torch/utils/_python_dispatch.py
Differs: re-exports of glasstorch/_python_dispatch.py (modes), _traceable.py (wrappers) and _aliasing.py (aliases).
"""

from glasstorch._aliasing import AliasInfo as AliasInfo
from glasstorch._aliasing import SchemaInfo as SchemaInfo
from glasstorch._aliasing import _correct_storage_aliasing as _correct_storage_aliasing
from glasstorch._aliasing import _get_write_alias as _get_write_alias
from glasstorch._aliasing import autograd_would_have_decomposed as autograd_would_have_decomposed
from glasstorch._aliasing import get_alias_info as get_alias_info
from glasstorch._aliasing import return_and_correct_aliasing as return_and_correct_aliasing
from glasstorch._python_dispatch import BaseTorchDispatchMode as BaseTorchDispatchMode
from glasstorch._python_dispatch import TorchDispatchMode as TorchDispatchMode
from glasstorch._python_dispatch import _detect_infra_mode as _detect_infra_mode
from glasstorch._python_dispatch import _disable_current_modes as _disable_current_modes
from glasstorch._python_dispatch import _disable_infra_mode as _disable_infra_mode
from glasstorch._python_dispatch import _get_current_dispatch_mode as _get_current_dispatch_mode
from glasstorch._python_dispatch import _get_current_dispatch_mode_stack as _get_current_dispatch_mode_stack
from glasstorch._python_dispatch import _pop_mode as _pop_mode
from glasstorch._python_dispatch import _pop_mode_temporarily as _pop_mode_temporarily
from glasstorch._python_dispatch import _push_mode as _push_mode
from glasstorch._python_dispatch import _unset_infra_mode as _unset_infra_mode
from glasstorch._python_dispatch import any_torch_dispatch_mode_on_stack as any_torch_dispatch_mode_on_stack
from glasstorch._python_dispatch import (
    is_in_any_mode_without_ignore_compile_internals as is_in_any_mode_without_ignore_compile_internals,
)
from glasstorch._python_dispatch import is_in_torch_dispatch_mode as is_in_torch_dispatch_mode
from glasstorch._python_dispatch import (
    set_is_in_mode_without_ignore_compile_internals as set_is_in_mode_without_ignore_compile_internals,
)
from glasstorch._traceable import TensorWithFlatten as TensorWithFlatten
from glasstorch._traceable import TraceableWrapperSubclass as TraceableWrapperSubclass
from glasstorch._traceable import _has_traceable_wrapper_subclass_protocol as _has_traceable_wrapper_subclass_protocol
from glasstorch._traceable import is_traceable_wrapper_subclass as is_traceable_wrapper_subclass
from glasstorch._traceable import is_traceable_wrapper_subclass_type as is_traceable_wrapper_subclass_type
from glasstorch._traceable import transform_subclass as transform_subclass
from glasstorch.core.keys import DispatchKey as DispatchKey
from glasstorch.dispatch.mode_stack import at as _get_dispatch_stack_at  # noqa: F401
from glasstorch.dispatch.mode_stack import pop as _pop_torch_dispatch_stack  # noqa: F401
from glasstorch.dispatch.mode_stack import push as _push_on_torch_dispatch_stack  # noqa: F401

__all__ = ["TorchDispatchMode"]
