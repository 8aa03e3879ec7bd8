"""What can be configured in the libraries that kernels call?

Reading order: `cuda`, `opt_einsum`.

Mirrors: torch/backends/__init__.py
Differs: only `cuda` and `opt_einsum`.
"""

from __future__ import annotations

from glasstorch.backends import cuda as cuda
from glasstorch.backends import opt_einsum as opt_einsum
