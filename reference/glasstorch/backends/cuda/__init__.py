"""What can be configured in the libraries that CUDA kernels call?

Mirrors: torch/backends/cuda/__init__.py
Differs: only the choice of the matrix multiplication library; see devices/blas.py.
"""

from __future__ import annotations

from glasstorch.devices.blas import preferred_blas_library as preferred_blas_library

__all__ = ["preferred_blas_library"]
