"""Which helpers are in torch.utils?

Reading order: `dlpack`, `_python_dispatch`, `serialization/`.

Mirrors: torch/utils/__init__.py
Differs: only these three; their code is in the layers that they belong to.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.utils import _python_dispatch as _python_dispatch
from glasstorch.utils import dlpack as dlpack
from glasstorch.utils import serialization as serialization

__getattr__ = refuse_unknown_names("glasstorch.utils")
