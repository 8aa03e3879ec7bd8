"""Which library computes matrix products on CUDA devices, and how is cuBLAS called?

Mirrors: torch/backends/cuda/__init__.py (preferred_blas_library), aten/src/ATen/Context.cpp (setBlasPreferredBackend),
    aten/src/ATen/cuda/CUDABlas.cpp (bgemm), aten/src/ATen/native/cuda/Blas.cpp (prepare_matrix_for_cublas)
Differs: our own kernels can be preferred; cuBLASLt and CK cannot. Every product is one of a batch.

# Note [Column-major matrices]
cuBLAS follows Fortran: it takes a matrix as an address and a leading dimension `ld`, and element (i, j) lies at
i + j * ld. Its matrices are column-major, ours row-major. So cuBLAS reads the memory of our row-major matrix X as X.T.
No element has to move: because (A @ B).T = B.T @ A.T, cuBLAS is asked for the product of B and A in this order. It
reads them as B.T and A.T, and writes (A @ B).T, which is our A @ B. One of our matrices that is already column-major
appears row-major to cuBLAS, which then transposes it while reading (op T). Only a matrix whose elements are not
adjacent along either axis has to be copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from glasstorch.core.dtype import bfloat16, dtype, float16, float32, float64
from glasstorch.core.geometry import Shape
from glasstorch.devices.driver import Driver

# Which library ----------------------------------------------------------------------------------------------------


class _BlasBackend(Enum):
    """The libraries to choose from."""

    Default = 0
    Cublas = 1
    Glasstorch = 2


NAMES: Final = {"default": _BlasBackend.Default, "cublas": _BlasBackend.Cublas, "glasstorch": _BlasBackend.Glasstorch}

_preferred = _BlasBackend.Cublas


def preferred_blas_library(backend: str | _BlasBackend | None = None) -> _BlasBackend:
    """The preferred library for matrix products on CUDA, after setting it to `backend` if one is given.

    "glasstorch" means the kernels of matmul.cu. "cublas", which is also the default, means cuBLAS wherever it is
    available and supports the dtype, else those kernels: the simulator has no cuBLAS, and cuBLAS multiplies no
    integers. The choice applies to the whole process, as in PyTorch.
    """
    global _preferred
    if isinstance(backend, str):
        if backend not in NAMES:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(NAMES)}.")
        backend = NAMES[backend]
    if isinstance(backend, _BlasBackend):
        _preferred = _BlasBackend.Cublas if backend is _BlasBackend.Default else backend
    elif backend is not None:
        raise RuntimeError(f"Unknown input value type. Expected str or _BlasBackend, got {type(backend).__name__}.")
    return _preferred


def uses_cublas(driver: Driver, dtype: dtype, sizes: Sequence[int]) -> bool:
    """Whether a product of matrices with these sizes goes to cuBLAS, which counts in 32 bits."""
    return _preferred is not _BlasBackend.Glasstorch and dtype in TYPES and max(sizes) <= LARGEST and driver.has_blas()


# How it is called -------------------------------------------------------------------------------------------------

LARGEST: Final = 2**31 - 1

# cudaDataType and cublasComputeType_t: of an element, and of what is added up in.
TYPES: Final = {float32: (0, 68), float64: (1, 70), float16: (2, 68), bfloat16: (14, 68)}

KEEP, TRANSPOSE = 0, 1  # CUBLAS_OP_N, CUBLAS_OP_T
DEFAULT_ALGORITHM = -1  # CUBLAS_GEMM_DEFAULT


class Matrices(NamedTuple):
    """A batch of matrices in memory; the strides count elements."""

    address: int
    shape: Shape  # (batches, rows, columns)
    strides: Shape


class Layout(NamedTuple):
    """How cuBLAS reads a matrix: the operation (transpose or not) and the leading dimension."""

    operation: int
    leading: int


def layout(matrices: Matrices) -> Layout | None:
    """How cuBLAS reads our matrices; None if they must be copied. See Note [Column-major matrices].

    >>> layout(Matrices(0, (1, 2, 3), (6, 3, 1)))
    Layout(operation=0, leading=3)
    >>> layout(Matrices(0, (1, 2, 3), (6, 1, 2)))
    Layout(operation=1, leading=2)
    """
    _, rows, columns = matrices.shape
    _, row, column = matrices.strides
    # The stride of a dimension of size 1 is never used: any value does.
    if column == 1 or columns <= 1:
        leading = row if rows > 1 else columns
        if leading >= max(1, columns):
            return Layout(KEEP, leading)
    if row == 1 or rows <= 1:
        leading = column if columns > 1 else rows
        if leading >= max(1, rows):
            return Layout(TRANSPOSE, leading)
    return None


def gemm(
    driver: Driver,
    stream: int,
    dtype: dtype,
    alpha: float,
    left: Matrices,
    right: Matrices,
    beta: float,
    out: Matrices,
) -> None:
    """out = alpha * left @ right + beta * out, by cuBLAS. Each matrix must have a layout, `out` without transposing."""
    (batches, rows, columns), inner = out.shape, left.shape[2]
    first, second, written = layout(right), layout(left), layout(out)
    assert first is not None, f"cuBLAS cannot read {right}"
    assert second is not None, f"cuBLAS cannot read {left}"
    assert written is not None, f"cuBLAS cannot write {out}"
    assert written.operation == KEEP, f"cuBLAS cannot write {out}"
    element, compute = TYPES[dtype]
    # The right one first. See Note [Column-major matrices].
    driver.gemm(
        first.operation,
        second.operation,
        columns,
        rows,
        inner,
        alpha,
        right.address,
        element,
        first.leading,
        right.strides[0],
        left.address,
        element,
        second.leading,
        left.strides[0],
        beta,
        out.address,
        element,
        written.leading,
        out.strides[0],
        batches,
        compute,
        DEFAULT_ALGORITHM,
        stream=stream,
    )
