"""Which of PyTorch's internals can a program inspect?

Mirrors: torch/_C/__init__.pyi.in, torch/csrc/utils/python_dispatch.cpp
Differs: key sets, the operators and their tables (_dispatch_queries.py), lazy copies and a few classes only. Nothing
    here is compiled: the code is in core/, dispatch/ and operators/.
"""

from __future__ import annotations

from types import ModuleType

from glasstorch._dispatch_modes import *  # noqa: F403
from glasstorch._dispatch_queries import *  # noqa: F403
from glasstorch._settings import (
    _get_deterministic_fill_uninitialized_memory as _get_deterministic_fill_uninitialized_memory,
)
from glasstorch._settings import (
    _set_deterministic_fill_uninitialized_memory as _set_deterministic_fill_uninitialized_memory,
)
from glasstorch._tensor import Tensor
from glasstorch.autograd.engine import current_graph_task_id as _current_graph_task_id  # noqa: F401
from glasstorch.autograd.engine import current_node as _current_autograd_node  # noqa: F401
from glasstorch.autograd.function_node import _FunctionBase as _FunctionBase
from glasstorch.autograd.imperative_engine import EngineBase as _EngineBase  # noqa: F401
from glasstorch.autograd.modes import _set_grad_enabled as _set_grad_enabled
from glasstorch.autograd.modes import is_grad_enabled as is_grad_enabled
from glasstorch.autograd.unregistered import mode as _get_autograd_fallback_mode  # noqa: F401
from glasstorch.autograd.unregistered import set_mode as _set_autograd_fallback_mode  # noqa: F401
from glasstorch.calls.asked_class import _TensorMeta as _TensorMeta
from glasstorch.calls.function_state import *  # noqa: F403
from glasstorch.core.device import device as device
from glasstorch.core.device import private_use
from glasstorch.core.device import rename_private_use as _rename_privateuse1_backend  # noqa: F401
from glasstorch.core.dtype import dtype as dtype
from glasstorch.core.errors import _LinAlgError as _LinAlgError
from glasstorch.core.geometry import Size as Size
from glasstorch.core.keys import DispatchKey as DispatchKey
from glasstorch.core.keys import DispatchKeySet as DispatchKeySet
from glasstorch.core.random.generator import Generator as Generator
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.runtime_schema import Argument as Argument
from glasstorch.dispatch.runtime_schema import FunctionSchema as FunctionSchema
from glasstorch.dispatch.schema_reader import parse_schema as parse_schema
from glasstorch.nn.functions.attention import scaled_dot_product_attention
from glasstorch.nn.functions.linear import linear
from glasstorch.operators.generated import functions
from glasstorch.operators.generated.methods import TensorMethods as TensorBase

__all__ = ["DispatchKey", "DispatchKeySet", "Generator", "Size", "TensorBase", "device", "dtype"]

_TensorBase = TensorBase  # its name before PyTorch 2.1
# PyTorch has the operators of `nn.functional`, `fft`, `linalg` and `special` in modules of their own.
_VariableFunctions = _fft = _linalg = _special = functions
_nn = ModuleType("torch._C._nn")
vars(_nn).update(vars(functions), linear=linear, scaled_dot_product_attention=scaled_dot_product_attention)


class _Executor:
    """Settings of PyTorch's graph executor that are kept, and change nothing in the one here."""

    profiling_executor = True
    profiling_mode = True


def _jit_set_profiling_executor(enabled: bool) -> bool:
    """Let graphs be compiled for the types that were seen in their first runs; returns what was set before."""
    before, _Executor.profiling_executor = _Executor.profiling_executor, enabled
    return before


def _jit_set_profiling_mode(enabled: bool) -> bool:
    """Let the first runs of a graph record the types they see; returns what was set before."""
    before, _Executor.profiling_mode = _Executor.profiling_mode, enabled
    return before


def _get_tracing_state() -> object | None:
    """The trace that is being recorded in this context, None where there is none."""
    from glasstorch.jit.tracer import tracing_state  # here, because few programs need it

    return tracing_state.get()


def _log_api_usage_once(event: str) -> None:
    """Tell a logger of PyTorch's, if a company has one, that a function is used; here there is none."""


def _jit_get_all_schemas() -> list[FunctionSchema]:
    """The schemas of all operators that are declared now."""
    return [operator._schema for operator in list(registry.operators.values())]


def _jit_get_schemas_for_operator(qualified_name: str) -> list[FunctionSchema]:
    """The schemas of all overloads of an operator, `aten::add`; none if there is no such operator."""
    return [s for s in _jit_get_all_schemas() if s.name == qualified_name]


def _get_privateuse1_backend_name() -> str:
    """The name of the device that the program brings; "privateuseone" until it has one."""
    return private_use.name


def _is_cow_tensor(tensor: Tensor) -> bool:
    """Whether the tensor's storage will be copied on the first write."""
    return tensor.untyped_storage().lazy is not None


def _data_address(tensor: Tensor) -> int:
    """The address of the first element, to be read from only: a lazy storage stays lazy."""
    return tensor.const_data_ptr()


__getattr__ = refuse_unknown_names("glasstorch._C")
