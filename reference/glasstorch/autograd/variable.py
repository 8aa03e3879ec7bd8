"""What is a Variable, of programs that are older than PyTorch 0.4?

Mirrors: torch/autograd/variable.py, torch/csrc/autograd/python_variable.cpp (THPVariable_pynew)
Differs: `volatile` is refused; such a program means `torch.no_grad()`.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """`Variable(data, requires_grad)` is a tensor that shares the data's storage and has no history."""

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = False) -> Any:
        """A tensor; without data an empty one."""
        if data is None:
            return Tensor().requires_grad_(requires_grad)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)
