"""Which helpers of torch._utils do programs import?

Mirrors: torch/_utils.py
Differs: only how errors reach another process; the code is in core/exception_wrapper.py.
"""

from __future__ import annotations

from glasstorch.core.exception_wrapper import ExceptionWrapper as ExceptionWrapper
from glasstorch.core.exception_wrapper import KeyErrorMessage as KeyErrorMessage
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["ExceptionWrapper", "KeyErrorMessage"]

__getattr__ = refuse_unknown_names("glasstorch._utils")
