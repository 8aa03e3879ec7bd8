"""What can be chosen of the libraries that CUDA kernels call?

Mirrors: torch/backends/cuda/__init__.py
Differs: only which library multiplies matrices; see devices/blas.py.
"""

from __future__ import annotations

from glasstorch.devices.blas import preferred_blas_library as preferred_blas_library

__all__ = ["preferred_blas_library"]
