"""What is a Variable, of programs that are older than PyTorch 0.4?

Mirrors: torch/autograd/variable.py, torch/csrc/autograd/python_variable.cpp (THPVariable_pynew)
"""

from __future__ import annotations

import warnings
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.imperative_engine import ImperativeEngine
from glasstorch.core.errors import AutogradError
from glasstorch.core.hooks import required

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """`Variable(data, requires_grad)` is a tensor that shares the data's storage and has no history."""

    _execution_engine = ImperativeEngine()

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        """A tensor; without data an empty one. There is a warning of `volatile`, which has no effect."""
        if volatile:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.", stacklevel=2
            )
        if data is None:
            return required(Tensor(), requires_grad)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return required(data.detach(), requires_grad)


def variable(*args: object, **kwargs: object) -> None:
    """Refused, with what replaces it: as an attribute of autograd this hides the module, and has its class too."""
    raise AutogradError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


variable.Variable = Variable  # type: ignore[attr-defined]
