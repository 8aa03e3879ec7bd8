"""Which parametrizations are there to choose: orthogonal matrices, weights of a given norm or of spectral norm 1?

Mirrors: torch/nn/utils/parametrizations.py
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.dtype import int32
from glasstorch.core.layout import contiguous_format
from glasstorch.core.type_info import finfo
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn import functional as F
from glasstorch.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from glasstorch.nn.modules.module import Module
from glasstorch.nn.utils.parametrize import register_parametrization
from glasstorch.operators.generated import functions as operators

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


# Orthogonal matrices ----------------------------------------------------------------------------------------------


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Make a parameter a matrix, or a batch of matrices (..., m, n), with orthonormal columns, or rows if m < n.

    The matrix is the `orthogonal_map` of the trained tensor: the "matrix_exp" of a skew-symmetric matrix, its "cayley"
    transform, or a product of "householder" reflections; by default the first for square and complex matrices, and the
    last for others. With `use_trivialization` it is multiplied by a buffer `base`, which is chosen on assignment, so
    that an orthogonal matrix stays as it is and another becomes its factor Q. Returns the module, changed in place.
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    chosen = getattr(_OrthMaps, orthogonal_map, None)
    if chosen is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            # The entries below the diagonal say too little: n * (n - 1) real numbers, of the n * n of a unitary matrix.
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        tall = X.mT if wide else X
        householder = self.orthogonal_map == _OrthMaps.householder
        Q = _by_reflections(tall) if householder else _by_rotation(tall, ROTATIONS[self.orthogonal_map])
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if wide else Q
        if hasattr(self, "base"):
            self.base = _base_of(tall)
            # Of which each map makes the first columns of the identity: reflections take the signs from the diagonal.
            start = operators.zeros_like(Q)
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start
        if self.orthogonal_map != _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        reflections, scales = operators.geqrf(tall)
        # The diagonal is that of R. Only its signs are kept, and LAPACK reflects nothing where a scale is exactly 0.
        reflections.diagonal(dim1=-2, dim2=-1).sign_()
        reflections.diagonal(dim1=-2, dim2=-1)[scales == 0.0] *= -1
        made: Tensor = reflections.mT if wide else reflections
        return made


def _by_rotation(X: Tensor, rotation: Callable[[Tensor], Tensor]) -> Tensor:
    """The first columns of the rotation that a skew-symmetric matrix gives, made of the lower part of a tall one."""
    n, k = X.size(-2), X.size(-1)
    X = X.tril()
    if n != k:
        X = operators.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], dim=-1)
    Q = rotation(X - X.mH)
    return Q if n == k else Q[..., :k]


def _cayley(A: Tensor) -> Tensor:
    """(I - A/2)^-1 (I + A/2)."""
    identity = operators.eye(A.size(-1), dtype=A.dtype, device=A.device)
    return operators.linalg_solve(operators.add(identity, A, alpha=-0.5), operators.add(identity, A, alpha=0.5))


ROTATIONS: dict[_OrthMaps, Callable[[Tensor], Tensor]] = {
    _OrthMaps.matrix_exp: operators.matrix_exp,
    _OrthMaps.cayley: _cayley,
}


def _by_reflections(X: Tensor) -> Tensor:
    """The first columns of the product of reflections across the columns below the diagonal; it has the signs."""
    below = X.tril(diagonal=-1)
    scales = 2.0 / (1.0 + (below * below).sum(dim=-2))
    Q = operators.linalg_householder_product(below, scales)
    # As integers, so that the signs have no gradient.
    return Q * X.diagonal(dim1=-2, dim2=-1).to(int32).unsqueeze(-2)


def _base_of(Q: Tensor) -> Tensor:
    """A square orthogonal matrix whose first columns are those of a tall matrix, made orthonormal if need be."""
    n, k = Q.size(-2), Q.size(-1)
    if n == k:
        return Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
    further = operators.randn((*Q.size()[:-2], n, n - k), dtype=Q.dtype, device=Q.device)
    return _make_orthogonal(operators.cat([Q, further], dim=-1))


def _is_orthogonal(Q: Tensor) -> bool:
    identity = operators.eye(Q.size(-1), dtype=Q.dtype, device=Q.device)
    return bool(operators.allclose(Q.mH @ Q, identity, atol=10.0 * Q.size(-2) * finfo(Q.dtype).eps))


def _make_orthogonal(A: Tensor) -> Tensor:
    """The factor Q of a tall matrix whose factor R has no negative number on its diagonal."""
    reflections, scales = operators.geqrf(A)
    Q = operators.linalg_householder_product(reflections, scales)
    Q *= reflections.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return Q


# The norms of weights ---------------------------------------------------------------------------------------------


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Train the lengths and the directions of a parameter's vectors apart; returns the module, changed in place.

    `original0` holds the lengths, one for each index of `dim`, or one in all where it is None; `original1` the vectors.
    What `torch.nn.utils.weight_norm` saved can be loaded.
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return operators._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return operators.norm_except_dim(weight, 2, self.dim), weight


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a parameter by an estimate of its largest singular value; returns the module, changed in place.

    It is a matrix with a row for each index of `dim`, by default 1 for transposed convolutions and 0 for others. In
    training, each reading improves the estimate by iterations of the power method. A vector is divided by its norm.
    """
    weight = _tensor_of(module, name)
    if dim is None:
        dim = 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


class _SpectralNorm(Module):
    _u: Tensor  # the estimated singular vectors, of length 1
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            rows, columns = matrix.size()
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)  # so that the first reading is near

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        if weight.ndim <= 1:
            raise AssertionError(f"Expected weight to have more than 1 dimension, got {weight.ndim}")
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    @no_grad()
    def _power_method(self, weight_mat: Tensor, n_power_iterations: int) -> None:
        """Bring both vectors closer to the singular vectors. They are updated in place, for all that share them."""
        if weight_mat.ndim <= 1:
            raise AssertionError(f"Expected weight_mat to have more than 1 dimension, got {weight_mat.ndim}")
        for _ in range(n_power_iterations):
            self._u = F.normalize(operators.mv(weight_mat, self._v), dim=0, eps=self.eps, out=self._u)
            self._v = F.normalize(operators.mv(weight_mat.mH, self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies, since the graph saves them: the next reading changes the vectors before this one's backward.
        u = self._u.clone(memory_format=contiguous_format)
        v = self._v.clone(memory_format=contiguous_format)
        return weight / operators.vdot(u, operators.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def _tensor_of(module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


__getattr__ = _refuse_unknown_names(__name__)
