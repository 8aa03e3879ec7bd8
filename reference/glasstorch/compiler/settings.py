"""Which settings does the capture of programs have?

Mirrors: torch/_dynamo/config.py
Differs: a few of PyTorch's settings, which a program reaches as `torch._dynamo.config`. Floats are constants of a
    graph. `dynamic_shapes` is read nowhere, here as in PyTorch.
"""

from __future__ import annotations

from typing import Final

from glasstorch.compiler.setting_table import Setting, Settings

DATA: Final = "a graph ends where a number depends on the elements of a tensor"
TABLE: Final = {
    "recompile_limit": Setting(8),  # graphs of one function, after which it runs as it is
    "accumulated_recompile_limit": Setting(256),  # parts of one function, after breaks and called there
    "fail_on_recompile_limit_hit": Setting(False),
    "error_on_recompile": Setting(False),
    "suppress_errors": Setting(False),  # of backends: the function runs as it is
    "disable": Setting(False),
    "verbose": Setting(False),  # the error of a backend with its cause
    "automatic_dynamic_shapes": Setting(True),
    "assume_static_by_default": Setting(True),
    "dynamic_shapes": Setting(True),
    "specialize_int": Setting(False),
    "specialize_float": Setting(True, (True,), "a float is a constant of its graph"),
    "capture_scalar_outputs": Setting(False, (False,), DATA),
    "capture_dynamic_output_shape_ops": Setting(False, (False,), DATA),
    "guard_nn_modules": Setting(True, (True,), "modules are always guarded"),
}
OLDER: Final = {"cache_size_limit": "recompile_limit", "accumulated_cache_size_limit": "accumulated_recompile_limit"}

settings: Final = Settings("torch._dynamo.config", TABLE, OLDER)
