"""Which kernel runs?

Reading order: `schema`, `tags`, `active_keys`, `operator`, `resolve`, `library`, `fallback`, `trace`.

Mirrors: aten/src/ATen/core/dispatch, c10/core/impl/LocalDispatchKeySet.h, torch/library.py
Differs: the table of an operator is a dict from whole key sets to kernels.
"""

from glasstorch.dispatch.trace import trace as trace

__all__ = ["trace"]
