"""What can be configured in the libraries that kernels call?

Reading order: `cpu/`, `cuda`, `mha`, `opt_einsum`.

Mirrors: torch/backends/__init__.py
Differs: only `cpu`, `cuda`, `mha` and `opt_einsum`.
"""

from __future__ import annotations

from glasstorch.backends import cpu as cpu
from glasstorch.backends import cuda as cuda
from glasstorch.backends import mha as mha
from glasstorch.backends import opt_einsum as opt_einsum
