"""Which helpers are in torch.utils?

Reading order: `dlpack`, `_python_dispatch`, `checkpoint/`.

Mirrors: torch/utils/__init__.py
Differs: only these; the code of the first two is in the layers that they belong to.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.utils import _python_dispatch as _python_dispatch
from glasstorch.utils import checkpoint as checkpoint
from glasstorch.utils import dlpack as dlpack

__getattr__ = refuse_unknown_names("glasstorch.utils")
