"""How is cuBLAS's batched matrix product called through ctypes?

Mirrors: aten/src/ATen/cuda/CUDABlas.cpp (at::cuda::blas::bgemm), CublasHandlePool.cpp (getCurrentCUDABlasHandle)
Differs: one call for every dtype, cublasGemmStridedBatchedEx, through ctypes: CuPy's binding would take CuPy's own
    current stream. One handle for each device, not one for each thread and device.
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache

from glasstorch.core.errors import ArgumentTypeError

# cublasComputeType_t, and the C type in which alpha and beta are then read.
SCALARS: dict[int, type[ctypes.c_float | ctypes.c_double]] = {68: ctypes.c_float, 70: ctypes.c_double}
INT, LONG, ADDRESS = ctypes.c_int, ctypes.c_longlong, ctypes.c_void_p
MATRIX = (ADDRESS, INT, INT, LONG)  # address, cudaDataType, leading dimension, stride from one of the batch to the next
SIGNATURE = (ADDRESS, *(INT,) * 5, ADDRESS, *MATRIX, *MATRIX, ADDRESS, *MATRIX, INT, INT, INT)


_lock = threading.Lock()
_handles: dict[int, ctypes.c_void_p] = {}  # of each device; a handle remembers its stream, so `_lock` goes with it


@cache
def library() -> ctypes.CDLL | None:
    """cuBLAS, or None if it is not installed."""
    try:
        from cuda import pathfinder

        found = ctypes.CDLL(pathfinder.load_nvidia_dynamic_lib("cublas").abs_path)
    except (ImportError, OSError, RuntimeError):
        return None
    found.cublasGetStatusName.restype = ctypes.c_char_p
    found.cublasGemmStridedBatchedEx.argtypes = SIGNATURE
    return found


def gemm(
    device: int,
    stream: int,
    transa: int,
    transb: int,
    m: int,
    n: int,
    k: int,
    alpha: float,
    a: int,
    atype: int,
    lda: int,
    stridea: int,
    b: int,
    btype: int,
    ldb: int,
    strideb: int,
    beta: float,
    c: int,
    ctype: int,
    ldc: int,
    stridec: int,
    batch_count: int,
    compute_type: int,
    algo: int,
) -> None:
    """c = alpha a b + beta c for a batch of column-major matrices; the arguments are cuBLAS's, in its order.

    `device` must be the current one. RuntimeError with cuBLAS's status if it fails.
    """
    scalar = SCALARS.get(compute_type)
    if scalar is None:
        accepted = " and ".join(map(str, SCALARS))
        raise ArgumentTypeError(f"gemm: compute_type {compute_type}; accepted are {accepted} (CUBLAS_COMPUTE_32F, 64F)")
    first, second = scalar(alpha), scalar(beta)
    with _lock:
        blas, handle = _current(device)
        _check(blas.cublasSetStream_v2(handle, ctypes.c_void_p(stream)), "cublasSetStream(handle, stream)")
        code = blas.cublasGemmStridedBatchedEx(
            *(handle, transa, transb, m, n, k, ctypes.addressof(first)),
            *(a, atype, lda, stridea, b, btype, ldb, strideb, ctypes.addressof(second)),
            *(c, ctype, ldc, stridec, batch_count, compute_type, algo),
        )
    sizes = f"m={m}, n={n}, k={k}, lda={lda}, ldb={ldb}, ldc={ldc}, batch_count={batch_count}"
    _check(code, f"cublasGemmStridedBatchedEx(handle, {sizes})")


def _current(device: int) -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    """The library, and the handle for the device, which must be the current one."""
    blas = library()
    if blas is None:
        raise RuntimeError("cuBLAS was not found; install it with: pip install 'glasstorch[cuda13]'")
    handle = _handles.get(device)
    if handle is None:
        handle = ctypes.c_void_p()
        _check(blas.cublasCreate_v2(ctypes.byref(handle)), "cublasCreate(handle)")
        _handles[device] = handle
    return blas, handle


def _check(code: int, call: str) -> None:
    """Raise what torch raises for a status other than success (aten/src/ATen/cuda/Exceptions.h)."""
    if code != 0:
        blas = library()
        assert blas is not None
        raise RuntimeError(f"CUDA error: {blas.cublasGetStatusName(code).decode()} when calling `{call}`")
