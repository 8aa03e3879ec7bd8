"""Which helpers do the formulas of several families call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (not_implemented, maybe_multiply, evenly_distribute_backward)
Differs: Python. Every helper is composed of operators, so that it can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from glasstorch.calls.arguments import NUMBERS
from glasstorch.core import hooks
from glasstorch.core.dtype import Number
from glasstorch.core.geometry import Shape
from glasstorch.operators.generated.functions import conj, eq, gather, ne

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Geometry = tuple[Shape, Shape, int]  # sizes, strides, offset


def not_implemented(name: str, grads: Sequence[Any] = ()) -> Tensor:
    """Raise an error for an argument whose derivative is not implemented, when its gradient is needed.

    A formula that uses `grads` runs if any result has a gradient, otherwise only if the first has one.
    """
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


@overload
def conjugate(value: Tensor) -> Tensor: ...
@overload
def conjugate(value: Number) -> Number: ...
def conjugate(value: Any) -> Any:
    """The complex conjugate of a tensor or a number; the tensor itself unless it is complex.

    The gradient of a complex function f at z is `grad * conjugate(f'(z))`: the direction of the loss's steepest ascent.
    """
    if type(value) in NUMBERS:
        return value.conjugate()
    if not value.dtype.is_complex:
        return value
    if value._number is not None:
        return hooks.tensor_hooks.wrapped_number(value._number.conjugate())
    return conj(value)


def scaled(grad: Tensor, factor: Number) -> Tensor:
    """`grad * factor` without the multiplication where the factor is 1. (PyTorch: maybe_multiply)"""
    return grad if factor == 1 else grad * factor


def evenly_distribute_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The gradient of an extremum of all elements, distributed evenly among those that attain it, also NaN."""
    mask = eq(self, result) | (ne(self, self) & ne(result, result))
    return mask * (grad / mask.sum())


def value_selecting_backward(grad: Tensor, dim: int, indices: Tensor, shape: Shape, keepdim: bool) -> Tensor:
    """The gradient of an operator that selects one element along a dimension: it goes to the selected element."""
    if not keepdim and shape:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(shape).scatter(dim, indices, grad)


def selected(tangent: Tensor, dim: int, indices: Tensor, keepdim: bool) -> Tensor:
    """The tangents of the elements that were selected along a dimension."""
    if tangent.ndim == 0:
        return tangent
    return gather(tangent, dim, indices) if keepdim else gather(tangent, dim, indices.unsqueeze(dim)).squeeze(dim)
