"""Which names does the code of every graph know, besides Python's own?

Mirrors: torch/fx/graph.py (_custom_builtins)
Differs: `torch` is this library.
"""

from __future__ import annotations

import math
import sys
from typing import Any, Final, NamedTuple

from glasstorch.core import pytree
from glasstorch.core.device import device
from glasstorch.fx import _pytree
from glasstorch.fx._names import LIBRARY, RESERVED


class CustomBuiltin(NamedTuple):
    """A name, as the statement that imports it and as the object."""

    import_str: str
    obj: Any


CUSTOM_BUILTINS: Final[dict[str, CustomBuiltin]] = {}


def _register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    """Let the code of every graph use a name, which no value of a graph may then have."""
    CUSTOM_BUILTINS[name] = CustomBuiltin(import_str, obj)
    RESERVED[name] = obj


_register_custom_builtin("inf", "from math import inf", math.inf)
_register_custom_builtin("nan", "from math import nan", math.nan)
_register_custom_builtin("NoneType", "NoneType = type(None)", type(None))
_register_custom_builtin("torch", f"import {LIBRARY} as torch", sys.modules[LIBRARY])
_register_custom_builtin("device", f"from {LIBRARY} import device", device)
_register_custom_builtin("fx_pytree", f"import {LIBRARY}.fx._pytree as fx_pytree", _pytree)
_register_custom_builtin("pytree", f"import {LIBRARY}.utils._pytree as pytree", pytree)
