"""How does an operator take a number in the place of its second tensor?

`add.Scalar` is `add.Tensor` with the number as a 0-dim tensor that does not take part in promotion. Python's functions
convert the number themselves and call `add.Tensor`; the overload is for code that names it, such as formulas and other
operators.

Mirrors: aten/src/ATen/native/BinaryOps.cpp (the Scalar overloads), aten/src/ATen/ScalarOps.h (wrapped_scalar_tensor)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from glasstorch.core import hooks
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.operators.direct import on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor
    from glasstorch.core.dtype import Number

TENSORS_OF = {"floor_divide": "floor_divide"}  # operators whose overload for two tensors has no name


def second(schema: FunctionSchema) -> Callable[..., Any]:
    """The kernel of a Scalar overload, from its schema."""
    return with_number(f"{schema.name}.{schema.overload}")


def with_number(name: str) -> Callable[..., Any]:
    """The kernel of a Scalar overload: that of the overload for tensors, for the number as a tensor."""
    base, _, overload = name.partition(".")
    operator = on_tensors(TENSORS_OF.get(base, f"{base}.{overload.replace('Scalar', 'Tensor')}"))

    def kernel(self: Tensor, other: Number, *more: Any) -> Any:
        return operator(self, hooks.tensor_hooks.wrapped_number(other), *more)

    return kernel
