"""How does a program state what must be true, so that a compiler can use it?

Mirrors: torch/__init__.py (_check, _check_is_size, _check_index, _check_value, _check_type, _check_not_implemented,
    _check_tensor_all)

Of a plain condition each function raises its error where it does not hold. A condition on symbols is noted: as a guard,
or, where it depends on elements, as an assertion that the graph makes when it runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.symbols import SymBool, SymInt

__all__ = [
    "_check", "_check_index", "_check_is_size", "_check_not_implemented", "_check_tensor_all", "_check_type",
    "_check_value",
]  # fmt: skip

Message = Callable[[], object] | None
DEFAULT = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
    "enhancement request to PyTorch.)"
)


def _check_with(error: type[Exception], cond: Any, message: Message) -> None:
    if not isinstance(cond, bool | SymBool):
        if isinstance(cond, Tensor):
            raise TypeError(
                "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert "
                "that all elements are true."
            )
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond.node.expect_true("", 0) if isinstance(cond, SymBool) else cond:
        return
    if message is None:
        raise error(DEFAULT)
    if not callable(message):
        raise TypeError("message must be a callable")
    raise error(str(message()))


def _check(cond: Any, message: Message = None) -> None:
    """RuntimeError unless the condition holds; `message` is called for the text."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Message = None) -> None:
    """IndexError unless the condition holds."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """ValueError unless the condition holds."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Message = None) -> None:
    """TypeError unless the condition holds."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message = None) -> None:
    """NotImplementedError unless the condition holds."""
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all(cond: Any, message: Message = None) -> None:
    """RuntimeError unless all elements of a tensor of bools are true."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype.name != "bool":
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(RuntimeError, cond.all().item(), message)


def _check_is_size(i: Any, message: Message = None, *, max: int | None = None) -> None:
    """RuntimeError unless a number can be a size. A symbol that depends on elements counts as neither 0 nor 1 then."""
    warnings.warn(
        "_check_is_size will be removed in a future PyTorch release along with guard_size_oblivious.     Use _check(i "
        ">= 0) instead.",
        FutureWarning,
        stacklevel=2,
    )
    _check(i >= 0, message)
    if isinstance(i, SymInt) and i.node.is_symbolic() and i.node.expr.is_Symbol and not i.node.has_hint():
        i.node.shape_env.size_like.add(i.node.expr)
    if max is not None:
        _check(i <= max, message)
