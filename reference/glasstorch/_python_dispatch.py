"""How does a program see, and change, every operator that runs below autograd?

Mirrors: torch/utils/_python_dispatch.py (TorchDispatchMode), aten/src/ATen/core/PythonFallbackKernel.cpp
    (pythonFallback), c10/core/impl/TorchDispatchModeTLS.h
Differs: a mode is the key Python among the included ones and nothing else; only modes have a `__torch_dispatch__`,
    subclasses of Tensor have none, so `types` is always empty. The stack belongs to the context that runs. An
    argument that equals its default is left out, also where PyTorch's Python functions pass it (`device`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.core.keys import FUNCTIONALITY_BIT, DispatchKey, below
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.dispatch.schema import Type

PYTHON = FUNCTIONALITY_BIT["Python"]
BELOW_PYTHON = below("Python")


class TorchDispatchMode:
    """Inside `with` an instance, each operator below autograd is given to its `__torch_dispatch__` instead of a kernel.

    Modes nest. While the innermost runs it is off the stack: an operator that it calls goes to the mode around it, and
    from the outermost to the kernels. What stands above the modes, autograd among it, has done its work by then.

    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **kwargs or {})
    """

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Answer one call of an operator; `func(*args, **kwargs)` runs it. NotImplemented refuses the call."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        _modes.set((*_modes.get(), self))
        included, allowed = active_keys.get()
        active_keys.set((included | PYTHON, allowed))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        outer = _modes.get()[:-1]
        _modes.set(outer)
        included, allowed = active_keys.get()
        active_keys.set((_included_for(outer, included), allowed))


_modes: ContextVar[tuple[TorchDispatchMode, ...]] = ContextVar("torch_dispatch_modes", default=())


def _included_for(modes: tuple[TorchDispatchMode, ...], included: int) -> int:
    """The keys to include where these modes are on: Python is among them as long as there is one."""
    return included if modes else included & ~PYTHON


# The kernel of the key Python ---------------------------------------------------------------------------------------


def call_mode(keys: int, operator: Operator, *positional: Any, **named: Any) -> Any:
    """Give one call of any operator to the innermost mode, with that mode and all keys above Python switched off."""
    modes = _modes.get()
    if not modes:  # somebody else put the key into the set
        return operator.redispatch(keys & BELOW_PYTHON, *operator.bind(positional, named))
    mode, outer = modes[-1], modes[:-1]
    arguments = tuple(map(_number_again, positional))
    by_name = {name: _number_again(value) for name, value in named.items()}
    included, allowed = active_keys.get()
    keys_token = active_keys.set((_included_for(outer, included), allowed & (BELOW_PYTHON | PYTHON)))
    modes_token = _modes.set(outer)
    try:
        result = mode.__torch_dispatch__(operator, (), arguments, by_name)
    finally:
        _modes.reset(modes_token)
        active_keys.reset(keys_token)
    if result is NotImplemented:
        raise ArgumentTypeError(
            f"Multiple dispatch failed for 'torch.ops.{operator}'; all __torch_dispatch__ handlers returned "
            f"NotImplemented:\n\n  - mode object {mode!r}"
        )
    _check_result(operator, result)
    return result


def _number_again(value: Any) -> Any:
    """The Python number that a tensor was made of for the call, and any other argument itself."""
    if isinstance(value, TensorImpl) and value._number is not None:
        return value._number
    return value


def _check_result(operator: Operator, result: Any) -> None:
    """Refuse a mode's answer that has no place in the schema; autograd above would trip over it."""
    returns = operator.schema.returns
    if len(returns) == 1:
        _check_one(returns[0].type, result)
    elif returns:
        if not isinstance(result, list | tuple) or len(result) != len(returns):
            raise ArgumentError(f"Unable to cast {result!r} to the {len(returns)} results of {operator.name}")
        for returned, value in zip(returns, result, strict=True):
            _check_one(returned.type, value)


def _check_one(kind: Type, value: Any) -> None:
    if not kind.is_tensor_like or (value is None and kind.is_optional):
        return
    if kind.is_list:
        fits = isinstance(value, list | tuple) and all(isinstance(element, TensorImpl) for element in value)
    else:
        fits = isinstance(value, TensorImpl)
    if not fits:
        raise ArgumentError(f"Unable to cast {value!r} to {kind.base}{'[]' if kind.is_list else ''}")


def register_python_dispatch() -> None:
    """Put the kernel above in force for every operator; without a mode no call's set has its key."""
    registry.fallbacks[DispatchKey.Python] = Kernel(
        call_mode, DispatchKey.Python, caller(0), takes_keys=True, by_user=True
    )
    registry.changed()
