"""What is a module's parameter?

Mirrors: torch/nn/parameter.py
Differs: no lazily sized parameters.
"""

from __future__ import annotations

from typing import Any, Self

from glasstorch._tensor import Tensor, alias
from glasstorch.operators.generated import functions as operators


class Parameter(Tensor):
    """A tensor that a module registers as its own when it is assigned to an attribute.

    It shares the storage of `data` and is a leaf: gradients are accumulated in its `grad`.
    """

    _printed_as = "tensor"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = operators.empty(0)
        parameter = alias(data, cls)
        assert isinstance(parameter, cls)
        parameter.requires_grad_(requires_grad)
        return parameter

    # mypy forgets the names of parameters of methods such as __repr__
    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        text = super().__repr__(tensor_contents=tensor_contents)  # type: ignore[call-arg]
        return "Parameter containing:\n" + (text if type(self) is Parameter else f"Parameter({text})")


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or (
            isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that a module registers as a buffer when it is assigned to an attribute.

    It is a tensor of the class of `data`, on the same storage; a mark makes it an instance of this class.
    """

    persistent: bool
    _is_buffer: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        given = operators.empty(0) if data is None else data
        made: Any = given.detach().requires_grad_(given.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made
