"""What do the formulas in derivatives.yaml call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp
Differs: Python. Every helper is made of operators, so that its own gradient can be taken.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from glasstorch._tensor import from_array
from glasstorch.autograd.formulas_distances import euclidean_dist_backward as euclidean_dist_backward
from glasstorch.autograd.formulas_factors import cholesky_inverse_backward as cholesky_inverse_backward
from glasstorch.autograd.formulas_factors import cholesky_solve_backward as cholesky_solve_backward
from glasstorch.autograd.formulas_factors import householder_product_backward as householder_product_backward
from glasstorch.autograd.formulas_factors import lstsq_backward as lstsq_backward
from glasstorch.autograd.formulas_factors import lu_backward as lu_backward
from glasstorch.autograd.formulas_factors import lu_factor_backward as lu_factor_backward
from glasstorch.autograd.formulas_factors import lu_solve_backward as lu_solve_backward
from glasstorch.autograd.formulas_factors import lu_unpack_backward as lu_unpack_backward
from glasstorch.autograd.formulas_factors import matrix_exp_backward as matrix_exp_backward
from glasstorch.autograd.formulas_factors import ormqr_backward as ormqr_backward
from glasstorch.autograd.formulas_factors import solve_triangular_backward as solve_triangular_backward
from glasstorch.autograd.formulas_factors import triangular_solve_backward as triangular_solve_backward
from glasstorch.autograd.formulas_fft import fft_c2r_backward as fft_c2r_backward
from glasstorch.autograd.formulas_fft import fft_r2c_backward as fft_r2c_backward
from glasstorch.autograd.formulas_indexing import index_fill_value_backward as index_fill_value_backward
from glasstorch.autograd.formulas_indexing import index_reduce_backward as index_reduce_backward
from glasstorch.autograd.formulas_indexing import index_slices as index_slices
from glasstorch.autograd.formulas_indexing import put_self_backward as put_self_backward
from glasstorch.autograd.formulas_indexing import scatter_reduce_backward as scatter_reduce_backward
from glasstorch.autograd.formulas_indexing import take_backward as take_backward
from glasstorch.autograd.formulas_linalg import cholesky_backward as cholesky_backward
from glasstorch.autograd.formulas_linalg import det_backward as det_backward
from glasstorch.autograd.formulas_linalg import eig_backward as eig_backward
from glasstorch.autograd.formulas_linalg import eigh_backward as eigh_backward
from glasstorch.autograd.formulas_linalg import norm_backward as norm_backward
from glasstorch.autograd.formulas_linalg import pinv_backward as pinv_backward
from glasstorch.autograd.formulas_linalg import qr_backward as qr_backward
from glasstorch.autograd.formulas_linalg import slogdet_backward as slogdet_backward
from glasstorch.autograd.formulas_linalg import solve_backward as solve_backward
from glasstorch.autograd.formulas_linalg import svd_backward as svd_backward
from glasstorch.autograd.formulas_linalg import trace_backward as trace_backward
from glasstorch.autograd.formulas_pointwise import angle_backward as angle_backward
from glasstorch.autograd.formulas_pointwise import atan2_other_backward as atan2_other_backward
from glasstorch.autograd.formulas_pointwise import atan2_self_backward as atan2_self_backward
from glasstorch.autograd.formulas_reductions import aminmax_backward as aminmax_backward
from glasstorch.autograd.formulas_reductions import cumprod_backward as cumprod_backward
from glasstorch.autograd.formulas_reductions import dist_backward as dist_backward
from glasstorch.autograd.formulas_reductions import evenly_distribute_backward as evenly_distribute_backward
from glasstorch.autograd.formulas_reductions import expand_reduced as expand_reduced
from glasstorch.autograd.formulas_reductions import extremum_dims_backward as extremum_dims_backward
from glasstorch.autograd.formulas_reductions import logcumsumexp_backward as logcumsumexp_backward
from glasstorch.autograd.formulas_reductions import logsumexp_backward as logsumexp_backward
from glasstorch.autograd.formulas_reductions import nansum_backward as nansum_backward
from glasstorch.autograd.formulas_reductions import numel as numel
from glasstorch.autograd.formulas_reductions import prod_backward as prod_backward
from glasstorch.autograd.formulas_reductions import prod_dim_backward as prod_dim_backward
from glasstorch.autograd.formulas_reductions import reduced_numel as reduced_numel
from glasstorch.autograd.formulas_reductions import renorm_backward as renorm_backward
from glasstorch.autograd.formulas_reductions import restore_reduced as restore_reduced
from glasstorch.autograd.formulas_reductions import running_extremum_backward as running_extremum_backward
from glasstorch.autograd.formulas_reductions import std_backward as std_backward
from glasstorch.autograd.formulas_reductions import std_mean_backward as std_mean_backward
from glasstorch.autograd.formulas_reductions import value_selecting_backward as value_selecting_backward
from glasstorch.autograd.formulas_reductions import var_backward as var_backward
from glasstorch.autograd.formulas_reductions import var_mean_backward as var_mean_backward
from glasstorch.autograd.formulas_special import i1_backward as i1_backward
from glasstorch.autograd.formulas_special import i1e_backward as i1e_backward
from glasstorch.autograd.formulas_special import logit_backward as logit_backward
from glasstorch.autograd.formulas_special import mvlgamma_backward as mvlgamma_backward
from glasstorch.autograd.formulas_special import sinc_backward as sinc_backward
from glasstorch.autograd.formulas_special import zero_where_empty as zero_where_empty
from glasstorch.calls.arguments import NUMBERS
from glasstorch.core import hooks
from glasstorch.core.device import device
from glasstorch.core.dtype import Number, dtype, int64
from glasstorch.core.geometry import Shape, broadcast_shapes, contiguous_strides, wrap_dim, wrap_dims
from glasstorch.operators.generated.functions import (
    _as_strided_backward,
    cat,
    conj,
    constant_pad_nd,
    eq,
    exp,
    ge,
    gt,
    imag,
    index,
    index_put,
    le,
    log,
    lt,
    real,
    slice_backward,
    stack,
    sum,
    where,
    zeros_like,
)
from glasstorch.operators.shapes.nn import MEAN, NONE

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

Geometry = tuple[Shape, Shape, int]  # sizes, strides, offset


def not_implemented(name: str, grads: Sequence[Any] = ()) -> Tensor:
    """Refuses the gradient of an operator that has no formula, when the gradient is wanted.

    A formula that names `grads` is called for the gradient of any of the results, else for that of the first.
    """
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


# Copies ---------------------------------------------------------------------------------------------------------


def moved(grad: Tensor, device: device) -> Tensor:
    """The gradient on the device that the elements were copied from. (PyTorch: _to_copy_backward, CopyBackwards)"""
    return grad if grad.device is device else grad.to(device)


# Pointwise ------------------------------------------------------------------------------------------------------


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


def not_negative(exponent: Tensor) -> Tensor:
    """Where an exponent is a real number and 0 or more."""
    return ge(real(exponent), 0) & eq(imag(exponent), 0) if exponent.dtype.is_complex else ge(exponent, 0)


def scaled(grad: Tensor, factor: Number) -> Tensor:
    """`grad * factor` without the multiplication where the factor is 1. (PyTorch: maybe_multiply)"""
    return grad if factor == 1 else grad * factor


def div_mode_self_backward(grad: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    """A rounded quotient is flat: its gradient is 0 almost everywhere."""
    return grad / conjugate(other) if rounding_mode is None else zeros_like(grad)


def div_mode_other_backward(grad: Tensor, self: Tensor, other: Tensor, rounding_mode: str | None) -> Tensor:
    """As `div_mode_self_backward`, for the divisor."""
    return -grad * conjugate((self / other) / other) if rounding_mode is None else zeros_like(grad)


def pow_backward_scalar(grad: Tensor, self: Tensor, exponent: Number) -> Tensor:
    """d/dx x^n = n x^(n-1), and 0 for n = 0 even at x = 0."""
    if exponent == 0:
        return zeros_like(self)
    return grad * conjugate(exponent * self.pow(exponent - 1))


def pow_backward_self(grad: Tensor, self: Tensor, exponent: Tensor) -> Tensor:
    """d/dx x^y = y x^(y-1), and 0 where y = 0."""
    return where(eq(exponent, 0), 0.0, grad * conjugate(exponent * self.pow(exponent - 1)))


def pow_backward_exponent(grad: Tensor, self: Tensor, exponent: Tensor, result: Tensor) -> Tensor:
    """d/dy x^y = x^y log x, and 0 where x = 0 and y >= 0."""
    flat = eq(self, 0) & not_negative(exponent)
    base = self.to(result.dtype) if result.dtype.is_complex else self  # below 0 the logarithm is complex
    return grad * where(flat, 0.0, conjugate(result * log(base)))


def pow_backward_scalar_base(grad: Tensor, self: Number, exponent: Tensor, result: Tensor) -> Tensor:
    """As `pow_backward_exponent`, for a base that is a number."""
    if self == 0:
        return grad * where(not_negative(exponent), 0.0, conjugate(result * -math.inf))
    if isinstance(self, complex) or exponent.dtype.is_complex:
        return grad * conjugate(result * cmath.log(self))
    return grad * conjugate(result * (math.log(self) if self > 0 else math.nan))


def sgn_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """None for a real sign; a complex one turns as the element turns, and the slower the longer that is."""
    if not self.dtype.is_complex:
        return zeros_like(grad)
    size = self.abs()
    across = grad - real(grad * conjugate(result)) * result
    return where(eq(size, 0), 0.0, across / size)


def acosh_backward(grad: Tensor, self: Tensor) -> Tensor:
    """`1 / sqrt(x^2 - 1)`; of a complex number by two roots, whose product lies on the right branch."""
    if not self.dtype.is_complex:
        return grad * (self * self - 1).rsqrt()
    return grad * conjugate((self + 1).rsqrt() * (self - 1).rsqrt())


def extremum_share(grad: Tensor, self: Tensor, other: Tensor, loses: Tensor) -> Tensor:
    """The gradient of one operand: none where it loses, half where both are equal, all where either is NaN."""
    return where(eq(self, other), grad / 2, where(loses, 0.0, grad))


def clamp_backward(grad: Tensor, self: Tensor, min: Any, max: Any) -> Tensor:
    """The gradient where the value lay between the bounds, both included."""
    if min is None and max is None:
        return grad
    inside = None if min is None else ge(self, min)
    if max is not None:
        below = le(self, max)
        inside = below if inside is None else inside & below
    return where(inside, grad, 0.0)


def clamp_backward_min_max(grad: Tensor, self: Tensor, min: Tensor | None, max: Tensor | None) -> tuple[Any, Any]:
    """The gradient of a bound where it was the value; where min exceeds max, max is."""
    grad_min = grad_max = None
    if min is not None and max is not None:
        grad_min = where(lt(self, min) & lt(min, max), grad, 0.0)
        grad_max = where(gt(self, max) | lt(max, min), grad, 0.0)
    elif min is not None:
        grad_min = where(lt(self, min), grad, 0.0)
    elif max is not None:
        grad_max = where(gt(self, max), grad, 0.0)
    return grad_min, grad_max


def copysign_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The gradient with the sign that the element was given; none at 0. (PyTorch: copysign_tensor_self_backward)"""
    return grad * where(eq(self, 0), 0.0, result / self)


# Matrix products ------------------------------------------------------------------------------------------------


def mm_left_grad(grad: Tensor, right: Tensor, left_geometry: Geometry, alpha: Number) -> Tensor:
    """The gradient of the left factor, laid out column by column where that is. (PyTorch: mm_mat1_grad)"""
    if is_column_major(left_geometry):
        return scaled(conjugate(right).mm(grad.t()).t(), conjugate(alpha))
    return scaled(grad.mm(conjugate(right).t()), conjugate(alpha))


def mm_right_grad(grad: Tensor, left: Tensor, right_geometry: Geometry, alpha: Number) -> Tensor:
    """The gradient of the right factor, laid out column by column where that is. (PyTorch: mm_mat2_grad)

    A linear layer multiplies by a transposed weight: the gradient then arrives row by row, as the weight lies, and is
    kept without a copy.
    """
    if is_column_major(right_geometry):
        return scaled(grad.t().mm(conjugate(left)).t(), conjugate(alpha))
    return scaled(conjugate(left).t().mm(grad), conjugate(alpha))


def is_column_major(geometry: Geometry) -> bool:
    """Whether a matrix lies column by column without gaps."""
    shape, strides, _ = geometry
    return strides[0] == 1 and strides[1] == shape[0]


# Views ----------------------------------------------------------------------------------------------------------


def permute_backward(grad: Tensor, dims: Sequence[int]) -> Tensor:
    """The permutation undone."""
    order = wrap_dims(dims, len(dims))
    return grad.permute([order.index(i) for i in range(len(order))])


def slice_start(start: int | None) -> int:
    """Where a slice without a start begins."""
    return 0 if start is None else start


def slice_end(end: int | None) -> int:
    """Where a slice without an end ends: beyond any size."""
    return 2**63 - 1 if end is None else end


def narrow_copy_backward(grad: Tensor, shape: Shape, dim: int, start: int, length: int) -> Tensor:
    """Zeros, with the gradient where `narrow` looked."""
    d = wrap_dim(dim, len(shape))
    first = start + shape[d] if start < 0 else start
    return slice_backward(grad, list(shape), d, first, first + length, 1)


def diagonal_backward(grad: Tensor, shape: Shape, offset: int, dim1: int, dim2: int) -> Tensor:
    """The gradient on the diagonal, zero beside it."""
    strides, start = _diagonal_geometry(shape, offset, dim1, dim2)
    return as_strided_backward(grad, (shape, contiguous_strides(shape), 0), list(grad._shape), strides, start)


def _diagonal_geometry(shape: Shape, offset: int, dim1: int, dim2: int) -> tuple[list[int], int]:
    strides = contiguous_strides(shape)
    a, b = wrap_dim(dim1, len(shape)), wrap_dim(dim2, len(shape))
    start = offset * strides[b] if offset >= 0 else -offset * strides[a]
    kept = [s for i, s in enumerate(strides) if i not in (a, b)]
    return [*kept, strides[a] + strides[b]], start


def unfold_backward(grad: Tensor, shape: Shape, dimension: int, size: int, step: int) -> Tensor:
    """Each element receives the sum over the windows that it lay in."""
    strides = list(contiguous_strides(shape))
    if not shape:
        return as_strided_backward(grad, (shape, (), 0), list(grad._shape), [1], 0)
    d = wrap_dim(dimension, len(shape))
    window = strides[d]
    strides[d] *= step
    return as_strided_backward(grad, (shape, contiguous_strides(shape), 0), list(grad._shape), [*strides, window], 0)


def roll_backward(grad: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    """The gradient rolled back, the last roll first."""
    return grad.roll([-shift for shift in reversed(shifts)], list(reversed(dims)))


def unbind_backward(grads: Sequence[Any], shape: Shape, dtype: dtype, dim: int) -> Tensor | None:
    """The gradients stacked again; zero where none arrived."""
    known = next((g for g in grads if g is not None), None)
    if known is None:
        return None
    return stack([zeros_like(known) if g is None else g for g in grads], dim)


def split_backward(grads: Sequence[Any], shape: Shape, dtype: dtype, split_size: int, dim: int) -> Tensor | None:
    """The gradients joined again; zero where none arrived."""
    known = next((g for g in grads if g is not None), None)
    if known is None:
        return None
    d = wrap_dim(dim, len(shape))
    pieces = []
    for i, g in enumerate(grads):
        if g is None:
            size = min(split_size, shape[d] - i * split_size)
            g = known.new_zeros((*shape[:d], size, *shape[d + 1 :]))
        pieces.append(g)
    return cat(pieces, d)


def split_with_sizes_backward(
    grads: Sequence[Any], shape: Shape, split_sizes: Sequence[int], dim: int
) -> Tensor | None:
    """The gradients joined again; zero where none arrived."""
    known = next((g for g in grads if g is not None), None)
    if known is None:
        return None
    d = wrap_dim(dim, len(shape))
    missing = [(*shape[:d], size, *shape[d + 1 :]) for size in split_sizes]
    return cat([known.new_zeros(m) if g is None else g for g, m in zip(grads, missing, strict=True)], d)


def as_strided_backward(
    grad: Tensor, geometry: Geometry, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> Tensor:
    """Each place of the input's geometry receives the sum over the places of the view that name it."""
    input_size, input_stride, input_offset = geometry
    offset = input_offset if storage_offset is None else storage_offset
    return _as_strided_backward(
        grad, list(input_size), list(input_stride), input_offset, list(size), list(stride), offset
    )


def as_strided_backward_backward(
    grad: Tensor,
    input_size: Sequence[int],
    input_stride: Sequence[int],
    input_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
) -> Tensor:
    """The gradient of `_as_strided_backward`: put back where the input lay in its storage, read through the view."""
    places, read = positions(input_size, input_stride, input_offset), positions(size, stride, offset)
    cells = 1 + max(int(places.max(initial=0)), int(read.max(initial=0)))
    shared = np.bincount(places, minlength=cells)[places]  # how many elements of the input lie in each one's cell
    flat = grad.reshape([-1])
    if (shared > 1).any():
        flat = flat / from_array(shared, int64).to(grad.device)
    storage = index_put(grad.new_zeros([cells]), [from_array(places, int64)], flat, True)
    return index(storage, [from_array(read, int64)]).reshape(list(size))


def positions(size: Sequence[int], stride: Sequence[int], offset: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The storage position of every element of a geometry, in row-major order of the elements."""
    result = np.array([offset], np.int64)
    for n, step in zip(size, stride, strict=True):
        result = (result[:, None] + np.arange(n) * step).reshape(-1)
    return result


# Joining, indexing ----------------------------------------------------------------------------------------------


def cat_backward(grad: Tensor, shapes: Sequence[Shape], dim: int) -> list[Tensor]:
    """The pieces of the gradient, one for each tensor joined."""
    result = []
    start = 0
    for shape in shapes:
        if shape == (0,):  # an empty vector, which cat skips; it takes any dimension of them alone
            result.append(grad.new_zeros((0,)))
            continue
        d = wrap_dim(dim, grad.dim())
        result.append(grad.narrow(d, start, shape[d]))
        start += shape[d]
    return result


def index_backward(grad: Tensor, shape: Shape, indices: list[Any]) -> Tensor:
    """Each element receives the sum of the gradients of the places that it was copied to."""
    return index_put(grad.new_zeros(shape), indices, grad, True)


def index_put_self_backward(grad: Tensor, indices: list[Any], accumulate: bool) -> Tensor:
    """What was overwritten has no gradient; what was added to keeps it."""
    return grad if accumulate else index_put(grad, indices, grad.new_zeros(()), False)


def gather_backward(grad: Tensor, shape: Shape, dim: int, index: Tensor) -> Tensor:
    """The transpose of gather."""
    return grad.new_zeros(shape).scatter_add(dim, index, grad)


def index_select_backward(grad: Tensor, shape: Shape, dim: int, index: Tensor) -> Tensor:
    """The transpose of index_select."""
    if not shape:
        return grad.reshape(()) if grad.dim() else grad
    d = wrap_dim(dim, len(shape))
    return index_put(grad.new_zeros(shape), [*[None] * d, index.reshape(-1)], grad, True)


def masked_select_backward(grad: Tensor, shape: Shape, mask: Tensor) -> Tensor:
    """The gradients at the places that the mask picked from what tensor and mask broadcast to."""
    whole = broadcast_shapes(shape, mask._shape)
    flat = mask.expand(whole).reshape(-1)  # a mask without dimensions is no index of a tensor without dimensions
    return index_put(grad.new_zeros(flat.shape), [flat], grad, False).reshape(whole)


# Other shapes ---------------------------------------------------------------------------------------------------


def block_diag_backward(grad: Tensor, shapes: Sequence[Shape]) -> list[Tensor]:
    """The blocks of the gradient, one for each tensor on the diagonal."""
    result = []
    top = left = 0
    for shape in shapes:
        height, width = (1, *shape)[-2:] if shape else (1, 1)
        result.append(grad.narrow(0, top, height).narrow(1, left, width).reshape(shape))
        top, left = top + height, left + width
    return result


def repeat_backward(grad: Tensor, repeats: Sequence[int], shape: Shape) -> Tensor:
    """The sum over the repetitions."""
    if 0 in repeats:
        return grad.new_zeros(shape)
    sizes = (*[1] * (len(repeats) - len(shape)), *shape)
    apart = grad.reshape([n for pair in zip(repeats, sizes, strict=True) for n in pair])  # each as (times, size)
    repeated = [2 * dim for dim, times in enumerate(repeats) if times != 1]
    return (sum(apart, repeated) if repeated else apart).reshape(shape)


def constant_pad_nd_backward(grad: Tensor, pad: Sequence[int]) -> Tensor:
    """The gradient without the border, or with zeros where the tensor was cut."""
    return constant_pad_nd(grad, [-number for number in pad], 0)


# Neural networks ------------------------------------------------------------------------------------------------


def softmax_double_backward(grad: Tensor, grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of softmax's backward with respect to the output that it was given."""
    return (
        grad_output * grad
        - (sum(output * grad_output, [dim], True) * grad)
        - (grad_output * sum(output * grad, [dim], True))
    )


def log_softmax_double_backward(grad: Tensor, grad_output: Tensor, output: Tensor, dim: int) -> Tensor:
    """The gradient of log_softmax's backward with respect to the output that it was given."""
    return -grad * exp(output) * sum(grad_output, [dim], True)


def reduced(tensor: Tensor, reduction: int) -> Tensor:
    """A loss of each element as the reduction that an operator was asked for: none, the mean, or the sum."""
    if reduction == NONE:
        return tensor
    return tensor.mean() if reduction == MEAN else tensor.sum()


def mse_loss_double_backward(grad: Tensor, grad_output: Tensor, input: Tensor, reduction: int) -> Tensor:
    """The gradient of mse_loss's backward with respect to the input."""
    result = 2 * grad * grad_output
    return result / grad.numel() if reduction == MEAN else result
