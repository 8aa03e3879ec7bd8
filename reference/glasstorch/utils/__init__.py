"""Which helpers are in torch.utils?

Reading order: re-exports: `dlpack`, `_python_dispatch`, `_pytree`, `hooks`, `model_zoo`, `serialization/`, `data/`;
`backend_registration` (a device of the program's own), `checkpoint/`, `_device`, `_dtype_abbrs`, `_debug_mode`,
`collect_env`, `deterministic` (what is in new memory), `module_tracker`, `throughput_benchmark`, `_flop_formulas`,
`flop_counter`, `benchmark/`, `tensorboard/`; C++ code of a program: `_cpp/`, `cpp_extension`; what can be imported and
is refused on use: `mobile_optimizer`.

Mirrors: torch/utils/__init__.py
Differs: not all of them. A helper that another layer needs too is a thin file here, and its code is in that layer.
    Those that PyTorch imports and few programs use are imported on first access.
"""

from __future__ import annotations

from typing import Any

from glasstorch.autograd.swap_tensors import swap_tensors as swap_tensors
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.utils import _python_dispatch as _python_dispatch
from glasstorch.utils import backend_registration as backend_registration
from glasstorch.utils import checkpoint as checkpoint
from glasstorch.utils import dlpack as dlpack
from glasstorch.utils import serialization as serialization
from glasstorch.utils.backend_registration import (
    generate_methods_for_privateuse1_backend as generate_methods_for_privateuse1_backend,
)
from glasstorch.utils.backend_registration import rename_privateuse1_backend as rename_privateuse1_backend

# Imported when they are first asked for: few programs use them.
_LATE = (
    "_device",
    "_pytree",
    "collect_env",
    "data",
    "deterministic",
    "hooks",
    "module_tracker",
    "throughput_benchmark",
)


def set_module(obj: Any, mod: str) -> None:
    """Say in which module a class or function is found, which its name then shows."""
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


_refuse = _refuse_unknown_names("glasstorch.utils", (*_LATE, "ThroughputBenchmark"))


def __getattr__(name: str) -> Any:
    if name == "ThroughputBenchmark":
        from glasstorch.utils.throughput_benchmark import ThroughputBenchmark

        return ThroughputBenchmark
    return _refuse(name)
