"""What do the formulas of several families call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp
Differs: Python. Every helper is made of operators, so that its own gradient can be taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from glasstorch.calls.arguments import NUMBERS
from glasstorch.core import hooks
from glasstorch.core.dtype import Number
from glasstorch.core.geometry import Shape, wrap_dims
from glasstorch.operators.generated.functions import conj, eq, ne

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Geometry = tuple[Shape, Shape, int]  # sizes, strides, offset


def not_implemented(name: str, grads: Sequence[Any] = ()) -> Tensor:
    """Refuses the gradient of an operator that has no formula, when the gradient is wanted.

    A formula that names `grads` is called for the gradient of any of the results, else for that of the first.
    """
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


@overload
def conjugate(value: Tensor) -> Tensor: ...
@overload
def conjugate(value: Number) -> Number: ...
def conjugate(value: Any) -> Any:
    """The complex conjugate of a tensor or a number; the tensor itself unless it is complex.

    The gradient of a complex function f at z is `grad * conjugate(f'(z))`: where it points, the loss grows fastest.
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


def restore_reduced(tensor: Tensor, shape: Shape, dim: Any, keepdim: bool) -> Tensor:
    """A reduced tensor with the dimensions that it lost put back as size 1."""
    if keepdim or not shape:
        return tensor
    dims = [dim] if isinstance(dim, int) else dim
    for d in sorted(wrap_dims(dims, len(shape)) if dims else range(len(shape))):
        tensor = tensor.unsqueeze(d)
    return tensor


def evenly_distribute_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The gradient of an extremum over everything: shared by all elements that attain it, NaN among them."""
    mask = eq(self, result) | (ne(self, self) & ne(result, result))
    return mask * (grad / mask.sum())


def value_selecting_backward(grad: Tensor, dim: int, indices: Tensor, shape: Shape, keepdim: bool) -> Tensor:
    """The gradient of an operator that picks one element along a dimension: it goes to the element picked."""
    if not keepdim and shape:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(shape).scatter(dim, indices, grad)
