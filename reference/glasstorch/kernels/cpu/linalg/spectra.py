"""How are eigenvalues, singular values and their vectors computed on the CPU?

Mirrors: aten/src/ATen/native/BatchLinearAlgebraKernel.cpp (apply_lapack_eigh, apply_linalg_eig, apply_svd),
    BatchLinearAlgebra.cpp (_linalg_check_errors)
Differs: SciPy calls LAPACK for one matrix after another; NumPy does where eigenvalues may be complex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError, LinAlgError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.linalg.batches import INFO, each, identities, kernel, kind, lapack, refuse, workspaces
from glasstorch.kernels.quiet import quietly

FAILED = "The algorithm failed to converge because the input matrix "
ILL_CONDITIONED = FAILED + "is ill-conditioned or has too many repeated "

# Symmetric and Hermitian matrices -------------------------------------------------------------------------------


@kernel("_linalg_eigh")
def eigh(A: Tensor, UPLO: str, compute_v: bool) -> tuple[Array, ...]:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices; only one triangle is read."""
    return symmetric.run(A.array(), UPLO in "Ll", compute_v)


@slot
def symmetric(array: Array, lower: bool, compute_v: bool) -> tuple[Array, ...]:
    """Eigenvalues, and eigenvectors if requested."""
    name = "heevd" if np.iscomplexobj(array) else "syevd"
    routine, options = lapack(name, array.dtype), (compute_v, lower)
    spaces = workspaces(name, array.dtype, array.shape[-1], *options)
    kinds = ((array.shape[-1:], array.real.dtype), kind(array), INFO)
    values, vectors, info = each.run(lambda matrix: routine(matrix, *options, *spaces), kinds, array)
    refuse(LinAlgError, "linalg.eigh", info, ILL_CONDITIONED + "eigenvalues (error code: {at}).")
    return values, vectors


# Any square matrices --------------------------------------------------------------------------------------------


@kernel("linalg_eig")
def eig(self: Tensor) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of any square matrices, complex even where all are real.

    By NumPy, as SciPy's LAPACK does not undo the scaling of large and small matrices.
    """
    array = self.array()
    if not np.isfinite(array).all():
        raise ArgumentError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    try:
        values, vectors = quietly(np.linalg.eig, array)
    except np.linalg.LinAlgError:
        failed = [not converges(array[index]) for index in np.ndindex(*array.shape[:-2])]
        reason = ILL_CONDITIONED + "eigenvalues."
        refuse(LinAlgError, "linalg.eig", np.reshape(failed, array.shape[:-2]), reason)
        raise
    return values, vectors


def converges(matrix: Array) -> bool:
    """Whether the eigenvalues of one matrix are found."""
    try:
        quietly(np.linalg.eig, matrix)
    except np.linalg.LinAlgError:
        return False
    return True


# Singular values ------------------------------------------------------------------------------------------------


@kernel("_linalg_svd", "linalg_svd_cpu")
def svd(A: Tensor, full_matrices: bool, compute_uv: bool, driver: str | None) -> tuple[Any, ...]:
    """The singular value decomposition.

    NaN is refused. A matrix with an infinity gets NaN for all values, as OpenBLAS may never return for one.
    """
    array = A.array()
    finite = np.isfinite(array)
    if finite.all():
        return singular.run(array, full_matrices, compute_uv)
    refuse(LinAlgError, "linalg.svd", np.isnan(array).any((-2, -1)), FAILED + "contained non-finite values.")
    whole = np.logical_and.reduce(finite, (-2, -1), keepdims=True)
    left, values, right = singular.run(np.where(whole, array, 0), full_matrices, compute_uv)
    return left, np.where(whole[..., 0], values, np.nan), right


@slot
def singular(array: Array, full_matrices: bool, compute_uv: bool) -> tuple[Any, ...]:
    """Left vectors, singular values and right vectors; without `compute_uv` only the values are meaningful."""
    (rows, columns), inner = array.shape[-2:], min(array.shape[-2:])
    width, height = (rows, columns) if full_matrices else (inner, inner)
    if not array.size:
        left, right = ((*array.shape[:-2], *sizes) for sizes in ((rows, width), (height, columns)))
        values = np.zeros((*array.shape[:-2], inner), array.real.dtype)
        return identities(left, array.dtype), values, identities(right, array.dtype)
    routine, options = lapack("gesdd", array.dtype), (compute_uv, full_matrices)
    spaces = workspaces("gesdd", array.dtype, rows, columns, *options)
    kinds = (((rows, width), array.dtype), ((inner,), array.real.dtype), ((height, columns), array.dtype), INFO)
    *found, info = each.run(lambda matrix: routine(matrix, *options, *spaces), kinds, array)
    refuse(LinAlgError, "linalg.svd", info, ILL_CONDITIONED + "singular values (error code: {at}).")
    return tuple(found)
