"""What can be chosen of the libraries that kernels call?

Reading order: `cuda`.

Mirrors: torch/backends/__init__.py
Differs: only `cuda`, so far.
"""

from __future__ import annotations

from glasstorch.backends import cuda as cuda
