"""Which random calls reach each fast function?

A module for each module of `kernels/cpu/fast/`. Its `CALLS` name, for an operator or slot in front of which a fast
function stands, a function that draws one call of a public operator: mostly one for which the fast way applies, and
sometimes one for which it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

import numpy as np

from tests.kernels.cpu.fast.held import Call

Draw = Callable[[np.random.Generator], Call]

CALLS: dict[str, Draw] = {}
for _module in iter_modules(__path__):
    if _module.name != "drawing":
        for _over, _draw in import_module(f"{__name__}.{_module.name}").CALLS.items():
            assert _over not in CALLS, f"{_over} has two drawings"
            CALLS[_over] = _draw
