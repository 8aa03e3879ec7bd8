"""Which switches of cuDNN does a program set?

Reading order: `rnn`.

Mirrors: torch/backends/cudnn/__init__.py
Differs: cuDNN is not used, so they change nothing: every run is deterministic, and the way a convolution is computed is
    chosen by estimated costs (backends/cpu/convolution.py), which nothing is measured for.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from glasstorch.backends import _switches
from glasstorch.backends.cudnn import rnn as rnn
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

conv = _switches.of_operator("cuda", "conv")

set_flags = _switches.setter(
    __name__,
    _enabled=("enabled", None),
    _benchmark=("benchmark", None),
    _benchmark_limit=("benchmark_limit", None),
    _deterministic=("deterministic", None),
    _allow_tf32=("allow_tf32", None),
    _fp32_precision=("fp32_precision", "none"),
    _depthwise_kernel=("depthwise_kernel", None),
)


def version() -> int | None:
    """The version of cuDNN: None, because it is not used."""
    return None


def is_available() -> bool:
    """Whether cuDNN is used: no."""
    return False


def is_acceptable(tensor: Tensor) -> bool:
    """Whether cuDNN computes with a tensor: no."""
    return False


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
    depthwise_kernel: str = "auto",
) -> AbstractContextManager[None]:
    """The switches as given inside a `with` block, and after it as they were."""
    given: tuple[Any, ...] = (
        enabled,
        benchmark,
        benchmark_limit,
        deterministic,
        allow_tf32,
        fp32_precision,
        depthwise_kernel,
    )
    return _switches.as_set(set_flags, *given)


__getattr__ = _refuse_unknown_names(__name__)

_switches.switchable(
    __name__,
    enabled=_switches.Switch(True, "set_enabled_cudnn"),
    deterministic=_switches.Switch(False, "set_deterministic_cudnn"),
    benchmark=_switches.Switch(False, "set_benchmark_cudnn"),
    benchmark_limit=_switches.Switch(None, "set_benchmark_limit_cudnn", int),
    allow_tf32=_switches.AllowTF32("set_allow_tf32_cudnn", "conv", "rnn"),
    fp32_precision=_switches.Precision("cuda"),
    depthwise_kernel=_switches.Switch("auto", "set_depthwise_kernel_cudnn", str),
)
