"""How does a program intercept every operator that runs below autograd?

Mirrors: torch/utils/_python_dispatch.py (TorchDispatchMode), aten/src/ATen/core/PythonFallbackKernel.cpp
    (pythonFallback), c10/core/impl/TorchDispatchModeTLS.h
Differs: a mode only adds the key Python to the included set; `__torch_dispatch__` is called on modes, never on
    subclasses of Tensor, so `types` is always empty. The stack of modes belongs to the running context. An argument
    that equals its default is left out, also where PyTorch's Python functions pass it (`device`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Self

from glasstorch.core import hooks
from glasstorch.core.errors import ArgumentError, ArgumentTypeError
from glasstorch.core.keys import DUAL, FUNCTIONALITY_BIT, RECORDED, DispatchKey, below
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.dispatch.record import recorder
from glasstorch.dispatch.schema import Type

PYTHON = FUNCTIONALITY_BIT["Python"]
BELOW_PYTHON = below("Python")


class TorchDispatchMode:
    """In a `with` block, each operator below autograd calls the mode's `__torch_dispatch__` instead of a kernel.

    Modes nest. While the innermost runs it is off the stack: an operator that it calls goes to the next outer mode, and
    from the outermost to the kernels. Keys above the modes, such as autograd's, have done their work by then.

    >>> class Log(TorchDispatchMode):
    ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
    ...         print(func)
    ...         return func(*args, **kwargs or {})
    """

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Handle one call of an operator; `func(*args, **kwargs)` runs it. Return NotImplemented to refuse the call."""
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


class _Before(TorchDispatchMode):
    """Calls a function before each operator runs."""

    def __init__(self, before: Callable[[Operator, Sequence[Any], Mapping[str, Any]], None]) -> None:
        self.before = before

    def __torch_dispatch__(
        self, func: Operator, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        self.before(func, args, kwargs or {})
        return func(*args, **kwargs or {})


_modes: ContextVar[tuple[TorchDispatchMode, ...]] = ContextVar("torch_dispatch_modes", default=())


def _included_for(modes: tuple[TorchDispatchMode, ...], included: int) -> int:
    """The keys to include while these modes are active: with Python if there is at least one mode."""
    return included if modes else included & ~PYTHON


# The kernel of the key Python ---------------------------------------------------------------------------------------


def call_mode(keys: int, operator: Operator, *positional: Any, **named: Any) -> Any:
    """Pass a call of any operator to the innermost mode, with that mode and all keys above Python switched off."""
    modes = _modes.get()
    if not modes:  # the key was put into the set without a mode
        return operator.redispatch(keys & BELOW_PYTHON, *operator.bind(positional, named))
    mode, outer = modes[-1], modes[:-1]
    arguments = tuple(map(_number_again, positional))
    by_name = {name: _number_again(value) for name, value in named.items()}
    included, allowed = active_keys.get()
    keys_token = active_keys.set((_included_for(outer, included), allowed & (BELOW_PYTHON | PYTHON | RECORDED | DUAL)))
    modes_token = _modes.set(outer)
    profiled = recorder.get()
    begun = None if profiled is None else profiled.begin("PythonDispatchMode")
    try:
        result = mode.__torch_dispatch__(operator, (), arguments, by_name)
    finally:
        _modes.reset(modes_token)
        active_keys.reset(keys_token)
        if profiled is not None and begun is not None:
            profiled.end(begun)
    if result is NotImplemented:
        raise ArgumentTypeError(
            f"Multiple dispatch failed for 'torch.ops.{operator}'; all __torch_dispatch__ handlers returned "
            f"NotImplemented:\n\n  - mode object {mode!r}"
        )
    _check_result(operator, result)
    return result


def _number_again(value: Any) -> Any:
    """The Python number that a tensor wraps; any other argument unchanged."""
    if isinstance(value, TensorImpl) and value._number is not None:
        return value._number
    return value


def _check_result(operator: Operator, result: Any) -> None:
    """Refuse a mode's result that does not fit the schema: autograd above could not handle it."""
    returns = operator.schema.returns
    if len(returns) == 1:
        _check_one(returns[0].type, result)
    elif returns:
        if not isinstance(result, list | tuple) or len(result) != len(returns):
            raise ArgumentError(f"Unable to cast {result!r} to the {len(returns)} results of {operator.name}")
        for returned, value in zip(returns, result, strict=True):
            if value is not None:  # a gradient that was not asked for, as convolution_backward leaves out
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
    """Register the fallback for every operator; without a mode no call's key set has its key."""
    registry.fallbacks[DispatchKey.Python] = Kernel(
        call_mode, DispatchKey.Python, caller(0), takes_keys=True, by_user=True
    )
    registry.changed()
    hooks.set_intercept(_Before)
