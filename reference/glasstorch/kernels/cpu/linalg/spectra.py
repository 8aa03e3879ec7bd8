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
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.linalg.batches import (
    INFO,
    Outputs,
    each,
    identities,
    kind,
    lapack,
    refuse,
    spaces_for,
    written,
)
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import decompositions as shapes

CPU = KernelTable("CPU")

FAILED = "The algorithm failed to converge because the input matrix "
ILL_CONDITIONED = FAILED + "is ill-conditioned or has too many repeated "

# Symmetric and Hermitian matrices -------------------------------------------------------------------------------


def eigh(keys: int, A: Tensor, UPLO: str, compute_v: bool, out: Outputs | None = None) -> Outputs:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices; only one triangle is read."""
    results = shapes.eigh(A, UPLO, compute_v)
    return written(results, symmetric.run(A.array(), UPLO in "Ll", compute_v), out)


@slot
def symmetric(array: Array, lower: bool, compute_v: bool) -> tuple[Array, Array]:
    """Eigenvalues, and eigenvectors if requested."""
    name, names = ("heevd", ["lwork", "liwork", "lrwork"]) if np.iscomplexobj(array) else ("syevd", ["lwork", "liwork"])
    options = {"compute_v": int(compute_v), "lower": int(lower)}
    spaces = dict(zip(names, spaces_for(name, array, array.shape[-1], **options), strict=True))
    routine = lapack(name, array)
    kinds = ((array.shape[-1:], array.real.dtype), kind(array), INFO)
    values, vectors, info = each(lambda matrix: routine(matrix, **options, **spaces), array.shape[:-2], kinds, array)
    refuse(LinAlgError, "linalg.eigh", info, ILL_CONDITIONED + "eigenvalues (error code: {at}).")
    return values, vectors


# Any square matrices --------------------------------------------------------------------------------------------


def eig(keys: int, self: Tensor, out: Outputs | None = None) -> Outputs:
    """Eigenvalues and eigenvectors of any square matrices, complex even where all are real."""
    results = shapes.eig(self)
    array = self.array()
    if not np.isfinite(array).all():
        raise ArgumentError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    return written(results, general(array), out, "linalg_eig")


def general(array: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors by NumPy; SciPy's LAPACK does not undo the scaling of large and small matrices."""
    try:
        values, vectors = quietly(np.linalg.eig, array)
    except np.linalg.LinAlgError:
        failed = [not converges(array[index]) for index in np.ndindex(*array.shape[:-2])]
        info = np.reshape(failed, array.shape[:-2])
        refuse(LinAlgError, "linalg.eig", info, ILL_CONDITIONED + "eigenvalues.")
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


def svd(
    keys: int, A: Tensor, full_matrices: bool, compute_uv: bool, driver: str | None, out: Outputs | None = None
) -> Outputs:
    """The singular value decomposition.

    NaN is refused. A matrix with an infinity gets NaN for all values, as OpenBLAS may never return for one.
    """
    results = shapes.svd(A, full_matrices, compute_uv, driver)
    shapes.check_lapack(A, "linalg_svd_cpu")
    array = A.array()
    if np.isfinite(array).all():
        return written(results, singular.run(array, full_matrices, compute_uv), out)
    refuse(LinAlgError, "linalg.svd", np.isnan(array).any((-2, -1)), FAILED + "contained non-finite values.")
    finite = np.isfinite(array).all((-2, -1))[..., None]
    left, values, right = singular.run(np.where(finite[..., None], array, 0), full_matrices, compute_uv)
    return written(results, (left, np.where(finite, values, np.nan), right), out)


@slot
def singular(array: Array, full_matrices: bool, compute_uv: bool) -> tuple[Any, Any, Any]:
    """Left vectors, singular values and right vectors; without `compute_uv` only the values are meaningful."""
    batch, (rows, columns) = array.shape[:-2], array.shape[-2:]
    inner = min(rows, columns)
    widths = (rows, columns) if full_matrices else (inner, inner)
    if not array.size:
        left, right = (
            identities(batch, rows, widths[0], array.dtype),
            identities(batch, widths[1], columns, array.dtype),
        )
        return left, np.zeros((*batch, inner), array.real.dtype), right
    options = {"compute_uv": int(compute_uv), "full_matrices": int(full_matrices)}
    (space,) = spaces_for("gesdd", array, rows, columns, **options)
    routine = lapack("gesdd", array)
    kinds = (((rows, widths[0]), array.dtype), ((inner,), array.real.dtype), ((widths[1], columns), array.dtype), INFO)
    *found, info = each(lambda matrix: routine(matrix, **options, lwork=space), batch, kinds, array)
    refuse(LinAlgError, "linalg.svd", info, ILL_CONDITIONED + "singular values (error code: {at}).")
    return found[0], found[1], found[2]


structured(CPU, "_linalg_eigh", eigh)
structured(CPU, "linalg_eig", eig)
structured(CPU, "_linalg_svd", svd)
