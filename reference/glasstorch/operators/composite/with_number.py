"""How does an operator take a number in the place of one of its two tensors?

`add.Scalar` is `add.Tensor` with the number as a 0-dim tensor that does not take part in promotion. Python's functions
convert the number themselves and call `add.Tensor`; the overload is for code that names it, such as formulas and other
operators.

Mirrors: aten/src/ATen/native/BinaryOps.cpp (the Scalar overloads), aten/src/ATen/ScalarOps.h (wrapped_scalar_tensor)
Differs: one rule serves all overloads that take a number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glasstorch.calls.arguments import NUMBERS
from glasstorch.core import hooks
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.operators.direct import on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor
    from glasstorch.core.dtype import Number

TENSORS_OF = {"floor_divide": "floor_divide"}  # operators whose overload for two tensors has no name


def with_number(name: str) -> Callable[..., Any]:
    """Calls an operator of two tensors with a Python number for one of them."""
    operator = on_tensors(name)

    def call(self: Tensor | Number, other: Tensor | Number, *more: Any) -> Any:
        return operator(_tensor(self), _tensor(other), *more)

    return call


def _tensor(value: Tensor | Number) -> Tensor:
    return hooks.tensor_hooks.wrapped_number(value) if type(value) in NUMBERS else value  # type: ignore[return-value]


def second(schema: FunctionSchema) -> Callable[..., Any]:
    """The kernel of a Scalar overload, from its schema."""
    return with_number(of_tensors(f"{schema.name}.{schema.overload}"))


def of_tensors(name: str) -> str:
    """The overload for two tensors that a Scalar overload calls: `add_.Tensor` of `add_.Scalar`."""
    base, _, overload = name.partition(".")
    return TENSORS_OF.get(base, f"{base}.{overload.replace('Scalar', 'Tensor')}")
