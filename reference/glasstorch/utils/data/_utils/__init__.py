"""Which helpers of loaders do programs import?

Reading order: `collate`, `fetch`, `pin_memory`, `worker`.

Mirrors: torch/utils/data/_utils/__init__.py
Differs: re-exports of the folder `data`.
"""

from __future__ import annotations

from glasstorch.core.exception_wrapper import ExceptionWrapper as ExceptionWrapper
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.data.worker import SECONDS_BETWEEN_CHECKS as MP_STATUS_CHECK_INTERVAL
from glasstorch.utils.data._utils import collate as collate
from glasstorch.utils.data._utils import fetch as fetch
from glasstorch.utils.data._utils import pin_memory as pin_memory
from glasstorch.utils.data._utils import worker as worker

__all__ = ["MP_STATUS_CHECK_INTERVAL", "ExceptionWrapper", "collate", "fetch", "pin_memory", "worker"]

__getattr__ = _refuse_unknown_names(__name__)
