"""How are eigenvalues, singular values and their vectors computed on the CPU?

Mirrors: aten/src/ATen/native/BatchLinearAlgebraKernel.cpp (apply_lapack_eigh, apply_linalg_eig, apply_svd),
    BatchLinearAlgebra.cpp (_linalg_check_errors)
Differs: SciPy calls LAPACK for one matrix after another; NumPy decomposes many small matrices together, and always
    those whose eigenvalues may be complex.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError, LinAlgError
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.linalg.inverses import Outputs, first_failure, lapack, many_small, outputs, write
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import decompositions as shapes

CPU = KernelTable("CPU")
NOT_FINITE = -4  # the info of gesdd for a NaN, in newer releases of LAPACK


def refuse_not_converged(name: str, info: Array, values: str) -> None:
    """Refuse matrices for which LAPACK did not converge."""
    if info.any():
        batch, code = first_failure(info)
        reason = (
            "contained non-finite values."
            if code == NOT_FINITE
            else f"is ill-conditioned or has too many repeated {values} (error code: {code})."
        )
        raise LinAlgError(f"{name}: {batch}The algorithm failed to converge because the input matrix {reason}")


# Symmetric and Hermitian matrices -------------------------------------------------------------------------------


def eigh(keys: int, A: Tensor, UPLO: str, compute_v: bool, out: Outputs | None = None) -> Outputs:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices; only one triangle is read."""
    made = outputs(shapes.eigh(A, UPLO, compute_v), out)
    values, vectors = symmetric(A.array(), "L" if UPLO in "Ll" else "U", compute_v)
    made[0].array()[...] = values
    if compute_v:
        made[1].array()[...] = vectors
    return made


def symmetric(array: Array, triangle: Literal["L", "U"], compute_v: bool) -> tuple[Array, Array]:
    """Eigenvalues, and eigenvectors if requested."""
    if many_small(array) or not array.size:
        try:
            if compute_v:
                values, vectors = quietly(np.linalg.eigh, array, triangle)
                return values, vectors
            return quietly(np.linalg.eigvalsh, array, triangle), array
        except np.linalg.LinAlgError:
            pass  # LAPACK says which one
    size = array.shape[-1]
    options = {"compute_v": int(compute_v), "lower": int(triangle == "L")}
    name, spaces = (
        ("heevd", ("lwork", "liwork", "lrwork")) if np.iscomplexobj(array) else ("syevd", ("lwork", "liwork"))
    )
    asked = lapack(f"{name}_lwork", array)(size, **options)
    routine, space = lapack(name, array), {n: int(np.real(a)) for n, a in zip(spaces, asked, strict=False)}
    values, vectors = np.empty(array.shape[:-1], array.real.dtype), np.empty(array.shape, array.dtype)
    info = np.zeros(array.shape[:-2], np.int32)
    for index in np.ndindex(*array.shape[:-2]):
        values[index], vectors[index], info[index] = routine(array[index], **options, **space)
    refuse_not_converged("linalg.eigh", info, "eigenvalues")
    return values, vectors


# Any square matrices --------------------------------------------------------------------------------------------


def eig(keys: int, self: Tensor, out: Outputs | None = None) -> Outputs:
    """Eigenvalues and eigenvectors of any square matrices, complex even where all are real."""
    made = outputs(shapes.eig(self), out)
    array = self.array()
    if not np.isfinite(array).all():
        raise ArgumentError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    write(made, general(array))
    return named_result("linalg_eig", made)


def general(array: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors by NumPy; SciPy's LAPACK does not undo the scaling of large and small matrices."""
    try:
        values, vectors = quietly(np.linalg.eig, array)
        return values, vectors
    except np.linalg.LinAlgError as error:
        at = next(index for index in np.ndindex(*array.shape[:-2]) if not converges(array[index]))
        batch = f"(Batch element {np.ravel_multi_index(at, array.shape[:-2])}): " if at else ""
        raise LinAlgError(
            f"linalg.eig: {batch}The algorithm failed to converge because the input matrix is ill-conditioned or has "
            f"too many repeated eigenvalues."
        ) from error


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
    """The singular value decomposition."""
    made = outputs(shapes.svd(A, full_matrices, compute_uv, driver), out)
    shapes.check_lapack(A, "linalg_svd_cpu")
    found = singular(A.array(), full_matrices, compute_uv)
    write(made if compute_uv else made[1:2], found if compute_uv else found[1:2])
    return made


def singular(array: Array, full_matrices: bool, compute_uv: bool) -> tuple[Any, Any, Any]:
    """Left vectors, singular values and right vectors; without `compute_uv` only the values are meaningful.

    NaN is refused. A matrix with an infinity gets NaN for all values, as OpenBLAS may never return for one.
    """
    if not np.isfinite(array).all():
        finite: Array = np.logical_and.reduce(np.isfinite(array), (-2, -1))
        refuse_not_converged("linalg.svd", np.where(np.isnan(array).any((-2, -1)), NOT_FINITE, 0), "singular values")
        left, values, right = singular(np.where(finite[..., None, None], array, 0), full_matrices, compute_uv)
        return left, np.where(finite[..., None], values, np.nan), right
    if many_small(array) or not array.size:
        try:
            if compute_uv:
                left, values, right = quietly(np.linalg.svd, array, full_matrices)
                return left, values, right
            return None, quietly(np.linalg.svd, array, compute_uv=False), None
        except np.linalg.LinAlgError:
            pass  # LAPACK says which one
    batch, (rows, columns) = array.shape[:-2], array.shape[-2:]
    inner = min(rows, columns)
    options = {"compute_uv": int(compute_uv), "full_matrices": int(full_matrices)}
    space = int(np.real(lapack("gesdd_lwork", array)(rows, columns, **options)[0]))
    routine = lapack("gesdd", array)
    values, info = np.empty((*batch, inner), array.real.dtype), np.zeros(batch, np.int32)
    left = np.empty((*batch, rows, rows if full_matrices else inner), array.dtype)
    right = np.empty((*batch, columns if full_matrices else inner, columns), array.dtype)
    for index in np.ndindex(*batch):
        u, values[index], vh, info[index] = routine(array[index], **options, lwork=space)
        if compute_uv:
            left[index], right[index] = u, vh
    refuse_not_converged("linalg.svd", info, "singular values")
    return left, values, right


structured(CPU, "_linalg_eigh", eigh)
structured(CPU, "linalg_eig", eig)
structured(CPU, "_linalg_svd", svd)
