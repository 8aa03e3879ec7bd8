"""Which nodes must stay although nothing uses their results?

Mirrors: torch/_library/utils.py (is_impure), torch/fx/node.py (_side_effectful_functions)
Differs: which functions draw random numbers is read from the operators' tags instead of from a list, so there are a few
    more of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

from glasstorch.dispatch.overload import OpOverload
from glasstorch.dispatch.tags import Tag
from glasstorch.fx._names import at, qualified_name

Function = TypeVar("Function", bound=Callable[..., Any])

_side_effectful_functions: set[Any] = {operator.setitem}  # besides those below, and those that a program adds

_OF_THE_LIBRARY = (
    "_assert", "_assert_async", "ops.aten._assert_async.msg", "ops.aten._assert_scalar.default",
    "ops.aten._assert_tensor_metadata.default", "ops.profiler._record_function_enter_new.default",
    "ops.profiler._record_function_exit._RecordFunction", "_C._set_grad_enabled", "amp._enter_autocast",
    "amp._exit_autocast",
)  # fmt: skip


@cache
def _of_the_library() -> frozenset[Any]:
    """The library's functions that do something else than give a result; those that are missing here have none."""
    return frozenset(found for path in _OF_THE_LIBRARY if (found := at(path)) is not None)


def has_side_effect(fn: Function) -> Function:
    """Let `Graph.eliminate_dead_code` keep calls of a function. Usable as a decorator; gives the function back."""
    _side_effectful_functions.add(fn)
    return fn


def is_impure(node: Any, impure_random: bool) -> bool:
    """Whether a node is an input, an output, or a call that has an effect besides its result."""
    if node.op in ("placeholder", "output"):
        return True
    if node.op == "call_module":
        owner = node.graph.owning_module
        if owner is None:
            raise AssertionError("self.graph.owning_module not set for purity check")
        return bool(getattr(owner.get_submodule(node.target), "_is_impure", False))
    return node.op == "call_function" and is_impure_call(node.target, impure_random)


def is_impure_call(function: Any, impure_random: bool = True) -> bool:
    """Whether calling a function writes to an argument, has a listed effect, or draws random numbers."""
    if hasattr(function, "overloads"):
        default = getattr(function, "default", None)
        return _has_listed_effect(function) or (default is not None and is_impure_call(default, impure_random))
    schema = getattr(function, "_schema", None)
    if (schema is not None and schema.is_mutable) or _has_listed_effect(function):
        return True
    return impure_random and _draws(function)


def _has_listed_effect(function: Any) -> bool:
    try:
        return function in _side_effectful_functions or function in _of_the_library()
    except TypeError:  # it has no hash
        return False


def _draws(function: Any) -> bool:
    if isinstance(function, OpOverload):
        return Tag.nondeterministic_seeded in function.tags
    return isinstance(function, FunctionType) and _operator_draws(function)


@cache
def _operator_draws(function: FunctionType) -> bool:
    if qualified_name(function) != f"torch.{function.__name__}":
        return False
    packet = at(f"ops.aten.{function.__name__}")
    return packet is not None and any(
        Tag.nondeterministic_seeded in getattr(packet, name).tags for name in packet.overloads()
    )
