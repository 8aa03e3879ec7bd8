"""Which helpers are in torch.utils?

Reading order: `dlpack`, `_python_dispatch`, `_pytree`, `serialization/`, `data/`, `checkpoint/`, `module_tracker`,
`_flop_formulas`, `flop_counter`, `benchmark/`, `tensorboard/`.

Mirrors: torch/utils/__init__.py
Differs: not all of them. A helper that another layer needs too is a thin file here, and its code is in that layer.

As in PyTorch, those from `module_tracker` on have to be imported by their own names.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.utils import _python_dispatch as _python_dispatch
from glasstorch.utils import checkpoint as checkpoint
from glasstorch.utils import dlpack as dlpack
from glasstorch.utils import serialization as serialization

_LATE = ("_pytree", "data")  # imported on first access
_refuse = refuse_unknown_names("glasstorch.utils")


def __getattr__(name: str) -> _Any:
    return _import_module(f"glasstorch.utils.{name}") if name in _LATE else _refuse(name)
