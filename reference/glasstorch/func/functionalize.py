"""What becomes of `functionalize` before there is a pass that removes changes in place?

Mirrors: torch/_functorch/eager_transforms.py (functionalize)
Differs: refused. It needs the pass of the compiler that removes changes in place, which is not built yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Refused: a function without changes in place, and with remove="mutations_and_views" without views too."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            f"     remove='mutations': all inplace and out= operators will be removed from the program, and replaced "
            f"with their out-of-place equivalents.\n"
            f"     remove='mutations_and_views': In addition to the above, all aliasing operators {{view}} will be "
            f"replaced with their non-aliasing counterparts, {{view}}_copy.\n"
        )
    raise NotImplementedError(
        "func.functionalize is not in glasstorch yet: it needs the compiler's pass that removes changes in place"
    )
