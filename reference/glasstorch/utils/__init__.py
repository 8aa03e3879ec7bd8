"""Which helpers are in torch.utils?

Reading order: re-exports: `dlpack`, `_python_dispatch`, `hooks`, `model_zoo`; `collect_env`; what can be imported and
is refused on use: `cpp_extension`, `mobile_optimizer`.

Mirrors: torch/utils/__init__.py
Differs: only these; the code of the first ones is in the layers that they belong to.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.utils import _python_dispatch as _python_dispatch
from glasstorch.utils import dlpack as dlpack

# Modules that few programs use, imported when they are first asked for.
_LATE = ("collect_env", "cpp_extension", "hooks", "mobile_optimizer", "model_zoo")
__getattr__ = refuse_unknown_names("glasstorch.utils", _LATE)
