"""Which options of printing do programs read at torch._tensor_str?

Mirrors: torch/_tensor_str.py
Differs: re-exports of printing.py; PyTorch's file has more.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.printing import __repr__ as _str
from glasstorch.printing import get_printoptions as get_printoptions
from glasstorch.printing import options as PRINT_OPTS
from glasstorch.printing import printoptions as printoptions
from glasstorch.printing import set_printoptions as set_printoptions

__all__ = ["PRINT_OPTS", "_str", "get_printoptions", "printoptions", "set_printoptions"]

__getattr__ = refuse_unknown_names("glasstorch._tensor_str")
