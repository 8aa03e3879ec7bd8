"""Which helpers are in torch.utils?

Reading order: `dlpack`, `_python_dispatch`, `module_tracker`, `_flop_formulas`, `flop_counter`,
`benchmark/`, `tensorboard/`.

Mirrors: torch/utils/__init__.py
Differs: not all of them. A helper that another layer needs too is a thin file here, and its code is in that layer.

As in PyTorch, those after `_python_dispatch` have to be imported by their own names.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.utils import _python_dispatch as _python_dispatch
from glasstorch.utils import dlpack as dlpack

__getattr__ = refuse_unknown_names("glasstorch.utils")
