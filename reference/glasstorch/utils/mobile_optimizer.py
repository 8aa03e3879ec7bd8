"""What does a program find at torch.utils.mobile_optimizer?

Mirrors: torch/utils/mobile_optimizer.py
Differs: it can be imported; nothing is optimised for phones.
"""

from __future__ import annotations

from typing import Any, NoReturn

from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["optimize_for_mobile"]


def optimize_for_mobile(script_module: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: there is no code for phones."""
    raise RuntimeError("torch.utils.mobile_optimizer.optimize_for_mobile: glasstorch makes no programs for phones")


__getattr__ = refuse_unknown_names(__name__)
