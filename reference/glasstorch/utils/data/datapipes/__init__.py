"""Which data pipes does torch.utils.data offer?

Reading order: `datapipe`.

Mirrors: torch/utils/data/datapipes/__init__.py
Differs: only the base classes; re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.utils.data.datapipes import datapipe as datapipe

__getattr__ = _refuse_unknown_names(__name__)
