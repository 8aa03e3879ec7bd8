"""Which transforms lead from unconstrained vectors and matrices to simplices, Cholesky factors and their products?

Mirrors: torch/distributions/transforms.py (CorrCholeskyTransform, LowerCholeskyTransform, PositiveDefiniteTransform,
    SoftmaxTransform, StickBreakingTransform)
"""

from __future__ import annotations

import math

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import Size
from glasstorch.core.type_info import finfo
from glasstorch.distributions import constraints
from glasstorch.distributions.transforms.elementwise import clipped_sigmoid
from glasstorch.distributions.transforms.transform import TOO_FEW, Transform, WithoutParameters
from glasstorch.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from glasstorch.operators.generated import functions as f


def require_dims(shape: Size, count: int) -> None:
    """Refuse a shape with fewer dimensions than an event has."""
    if len(shape) < count:
        raise ValueError(TOO_FEW)


class SoftmaxTransform(WithoutParameters):
    """`y = exp(x) / sum(exp(x))`; no bijection, as all x + c have one y. The inverse is the logarithm."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Size) -> Size:
        require_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(WithoutParameters):
    """n numbers to n + 1 shares: each says which part of what is left of a stick is broken off.

    The numbers are shifted so that zeros give equal shares.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        parts = clipped_sigmoid(x - log_pieces_left(x, x.shape[-1]))
        left = (1 - parts).cumprod(-1)
        return f.pad(parts, [0, 1], value=1) * f.pad(left, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        pieces = y[..., :-1]
        left = (1 - pieces.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return pieces.log() - left.log() + log_pieces_left(y, y.shape[-1] - 1)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - log_pieces_left(x, x.shape[-1])
        return (-x + f.log_sigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Size) -> Size:
        require_dims(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Size) -> Size:
        require_dims(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


def log_pieces_left(like: Tensor, n: int) -> Tensor:
    """log(n), log(n - 1) ... log(1): how many equal pieces may still follow each break."""
    return (n + 1 - like.new_ones(n).cumsum(-1)).log()


class CorrCholeskyTransform(Transform):
    """n (n - 1) / 2 numbers to the Cholesky factor of an n x n correlation matrix.

    The numbers fill the triangle below the diagonal and are made signed shares by tanh. Each says which part of what is
    left of its row's squared length goes to its place; the diagonal takes the rest.
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        shares = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - shares**2).sqrt().cumprod(-1)
        shares = shares + f.eye(shares.shape[-1], dtype=shares.dtype, device=shares.device)
        return shares * f.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = f.pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        shares = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (shares.log1p() - shares.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: object = None) -> Tensor:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        of_tanh = -2 * (x + f.softplus(-2 * x) - math.log(2.0)).sum(-1)
        return 0.5 * left.log().sum(-1) + of_tanh

    def forward_shape(self, shape: Size) -> Size:
        require_dims(shape, 1)
        length = shape[-1]
        n = round((0.25 + 2 * length) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != length:
            raise ValueError(f"Input is not a flattened lower-diagonal number: no n (n - 1) / 2 is {length}")
        return shape[:-1] + (n, n)

    def inverse_shape(self, shape: Size) -> Size:
        require_dims(shape, 2)
        n = shape[-1]
        if shape[-2] != n:
            raise ValueError(f"Input is not square: {tuple(shape[-2:])}")
        return shape[:-2] + (n * (n - 1) // 2,)


class LowerCholeskyTransform(WithoutParameters):
    """Square matrices to lower triangular ones with a positive diagonal, which is the exponential of theirs."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(WithoutParameters):
    """Square matrices to positive definite ones: the product of such a Cholesky factor and its transpose."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(f.linalg_cholesky(y))
