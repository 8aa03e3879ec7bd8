"""Which helpers are in torch.utils?

Reading order: `dlpack`, `_python_dispatch`, `module_tracker`, `_flop_formulas`, `flop_counter`,
`benchmark/`, `tensorboard/`.

Mirrors: torch/utils/__init__.py
Differs: not all of them. A helper that another layer needs too is a thin file here, and its code is in that layer.
    Those that few programs use are imported on first access, where PyTorch asks for an import of their own;
    `tensorboard`, which needs a package, asks for one here, too.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.utils import _python_dispatch as _python_dispatch
from glasstorch.utils import dlpack as dlpack

_LATE = ("benchmark", "flop_counter", "module_tracker")
_refuse = _refuse_unknown_names("glasstorch.utils")


def __getattr__(name: str) -> _Any:
    if name == "tensorboard":
        raise AttributeError(
            "module 'glasstorch.utils' has no attribute 'tensorboard' before `import torch.utils.tensorboard`",
            name=name,
        )
    return _import_module(f"glasstorch.utils.{name}") if name in _LATE else _refuse(name)
