"""Which helpers does PyTorch keep beside its layers?

Reading order: `dlpack`, `_python_dispatch`.

Mirrors: torch/utils/__init__.py
Differs: only what is here; its code lives in the layer that it belongs to.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.utils import _python_dispatch as _python_dispatch
from glasstorch.utils import dlpack as dlpack

__getattr__ = refuse_unknown_names("glasstorch.utils")
