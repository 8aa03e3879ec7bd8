"""By which short name does a log call a dtype?

Mirrors: torch/utils/_dtype_abbrs.py
"""

from __future__ import annotations

from glasstorch.core import dtype as _dtypes
from glasstorch.core.dtype import dtype

dtype_abbrs: dict[dtype, str] = {kind: kind.abbr for kind in vars(_dtypes).values() if isinstance(kind, dtype)}
