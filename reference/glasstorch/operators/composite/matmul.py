"""Which of dot, mv, mm and bmm computes a matrix product, and on which views of the operands?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (_matmul_impl, should_fold), Linear.cpp (linear, bilinear)
Differs: the case analysis is a value, shared by matmul and matmul.out; linear adds a bias out of place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from glasstorch.core.errors import DtypeError, ShapeError
from glasstorch.core.geometry import Shape, broadcast_shapes, wrap_dim
from glasstorch.operators.generated.functions import _trilinear, _unsafe_view, addmm, bmm, dot, mm, mv
from glasstorch.operators.shapes.result import C_NAMES

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


class Product(NamedTuple):
    """The operator that computes a matmul, its operands, and the shape in which its result is viewed.

    If `transposed`, the last two dimensions of that view are then swapped.
    """

    operator: Callable[..., Any]
    left: Tensor
    right: Tensor
    shape: Shape
    transposed: bool = False

    @property
    def result_shape(self) -> Shape:
        """The shape of the operator's own result."""
        columns = self.right._shape[-1:] if self.operator in (mm, bmm) else ()
        return (*self.left._shape[:-1], *columns)


def matmul(self: Tensor, other: Tensor) -> Tensor:
    """The matrix product; the dimensions before the last two are batch dimensions, which broadcast."""
    if len(self._shape) == 2 == len(other._shape):
        return mm(self, other)
    operator, left, right, shape, transposed = plan(self, other, has_out=False)
    result: Tensor = operator(left, right)
    if len(self._shape) == 1 and len(other._shape) == 2:
        return result.squeeze_(0)
    if operator is bmm or result._shape != shape:
        result = _unsafe_view(result, shape)
    return result.mT.contiguous() if transposed else result


def plan(self: Tensor, other: Tensor, has_out: bool) -> Product:
    """How a product is computed. With `has_out`, the result is never transposed afterwards."""
    left, right = self._shape, other._shape
    if not left or not right:
        raise ShapeError(
            f"both arguments to matmul need to be at least 1D, but they are {len(left)}D and {len(right)}D"
        )
    match min(len(left), 3), min(len(right), 3):
        case 1, 1:
            return Product(dot, self, other, ())
        case 2, 1:
            return Product(mv, self, other, left[:1])
        case 1, 2:
            return Product(mm, self.unsqueeze(0), other, right[1:])
        case 2, 2:
            return Product(mm, self, other, (left[0], right[1]))
    if should_fold(self, other, has_out):
        return _folded(self, other)
    return _batched(self, other, has_out)


def should_fold(self: Tensor, other: Tensor, has_out: bool) -> bool:
    """Whether the batches of the larger operand can be stacked as one tall matrix and multiplied at once.

    They can, without a copy, if the rows are evenly spaced in memory. If the smaller operand requires grad, folding
    pays even with a copy: expanded to all batches, its gradient would be as large as that.
    """
    self_is_larger = len(self._shape) >= len(other._shape)
    large, small = (self, other) if self_is_larger else (other.mT, self)
    if len(small._shape) > 2:
        return False
    if small.requires_grad and not has_out:
        return True
    if len(self._shape) == 2:  # the result would have to be transposed, which copies it
        return False
    shape, strides = large._shape, large.strides()
    return 0 in shape or all(strides[d] == strides[d + 1] * shape[d + 1] for d in range(len(shape) - 2))


def _folded(self: Tensor, other: Tensor) -> Product:
    """The larger operand as one matrix; if that is `other`, (A B)^T = B^T A^T moves it to the left."""
    swapped = len(other._shape) > len(self._shape)
    large, small = (other.mT, self) if swapped else (self, other)
    *batch, inner = large._shape
    rows = large.reshape((math.prod(batch), inner))
    if len(small._shape) == 1:
        return Product(mv, rows, small, tuple(batch))
    columns = small.t() if swapped else small
    return Product(mm, rows, columns, (*batch, columns._shape[1]), swapped)


def _batched(self: Tensor, other: Tensor, has_out: bool) -> Product:
    """Both operands as batches of matrices, expanded to the same batches; a vector is a matrix of one row or column."""
    left, right = self._shape, other._shape
    if len(left) == 3 == len(right) and left[0] != right[0] and not has_out:
        # One matrix for all batches is folded rather than expanded if it requires grad (see should_fold).
        if left[0] == 1 and self.requires_grad:
            return plan(self.squeeze(0), other, has_out)
        if right[0] == 1 and other.requires_grad:
            return plan(self, other.squeeze(0), has_out)
    batch = broadcast_shapes(left[:-2], right[:-2])
    count = math.prod(batch)
    rows = left[-2:] if len(left) > 1 else (1, left[0])
    columns = right[-2:] if len(right) > 1 else (right[0], 1)
    if len(right) == 1:
        other = other.unsqueeze(1)
    return Product(
        bmm,
        self.expand((*batch, *rows)).reshape((count, *rows)),
        other.expand((*batch, *columns)).reshape((count, *columns)),
        (*batch, *left[-2:-1], *(right[-1:] if len(right) > 1 else ())),
    )


def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`input @ weight.T + bias`. A batch of vectors with a bias is one addmm; more batch dimensions are flattened."""
    shape = input._shape
    if not shape or not weight._shape:
        raise ShapeError(
            f"both arguments to linear need to be at least 1D, but they are {len(shape)}D and {len(weight._shape)}D"
        )
    if bias is None:
        return matmul(input, weight.t())
    if len(shape) == 2:
        return addmm(bias, input, weight.t())
    if input.is_row_major() and (len(shape) == 3 or len(bias._shape) == 1):
        rows = input.reshape((math.prod(shape[:-1]), shape[-1]))
        result = addmm(bias, rows, weight.t())
        return result.view((*shape[:-1], result._shape[1]))
    return matmul(input, weight.t()) + bias


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`input1 @ weight[k] @ input2` for each k: (..., n) and (..., m) with (K, n, m) give (..., K)."""
    _check_bilinear(input1, input2, weight, bias)
    left, right = (i.reshape((-1, i._shape[-1])) for i in (input1, input2))
    found = _trilinear(left, weight, right, [1, 3], [0], [1, 2], [2, 3])
    found = found.reshape((*input1._shape[:-1], weight._shape[0]))
    return found if bias is None else found + bias


def _check_bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if not input1.dtype is input2.dtype is weight.dtype:
        raise DtypeError(
            f"All tensors must have the same dtype, got input1: {C_NAMES[input1.dtype.name]}, input2: "
            f"{C_NAMES[input2.dtype.name]}, weight: {C_NAMES[weight.dtype.name]}"
        )
    left, right, sizes = input1._shape, input2._shape, weight._shape
    if len(left) != len(right):
        raise ShapeError(f"bilinear(): input dimensions do not match: got {len(left)} and {len(right)}")
    for dim, (a, b) in enumerate(zip(left[:-1], right[:-1], strict=True)):
        if a != b:
            raise ShapeError(f"bilinear(): input batch dimensions do not match at dim {dim}: got {a} and {b}")
    for name, found, dim in (("input1", left, 1), ("input2", right, 2)):
        size, wanted = found[wrap_dim(-1, len(found))], sizes[wrap_dim(dim, len(sizes))]
        if size != wanted:
            raise ShapeError(f"bilinear(): {name} size does not match weight size: got {size} but expected {wanted}")
    if bias is not None and bias._shape[wrap_dim(0, len(bias._shape))] != sizes[0]:
        raise ShapeError(
            f"bilinear(): bias size does not match weight size: got {bias._shape[0]} but expected {sizes[0]}"
        )
