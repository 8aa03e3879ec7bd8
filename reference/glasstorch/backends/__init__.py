"""What can be configured in the libraries that kernels call, and in those that PyTorch's call?

Reading order: those that have an effect: `cpu/`, `cuda`, `mha`, `opt_einsum`; how a switch without one is kept:
`_switches`, `_verbose`; modules of such switches, imported when they are first asked for: `cudnn`, `cusparselt`,
`kleidiai`, `miopen`, `mkl`, `mkldnn`, `mps`, `nnpack`, `openmp`, `quantized`, `xnnpack`.

Mirrors: torch/backends/__init__.py
Differs: no `python_native`, no `xeon` (a launcher of processes).
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from glasstorch.backends import _switches
from glasstorch.backends import cpu as cpu
from glasstorch.backends import cuda as cuda
from glasstorch.backends import mha as mha
from glasstorch.backends import opt_einsum as opt_einsum
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

set_flags = _switches.setter(__name__, _fp32_precision=("fp32_precision", "none"))


def flags(fp32_precision: str = "none") -> AbstractContextManager[None]:
    """The generic precision as given inside a `with` block, and after it as it was."""
    return _switches.as_set(set_flags, fp32_precision)


_LATE = (
    "cudnn", "cusparselt", "kleidiai", "miopen", "mkl", "mkldnn", "mps", "nnpack", "openmp", "quantized", "xnnpack",
)  # fmt: skip
__getattr__ = _refuse_unknown_names(__name__, _LATE)

_switches.switchable(__name__, fp32_precision=_switches.Precision("generic"))
