"""Which switches of oneDNN, once MKL-DNN, does a program set?

Mirrors: torch/backends/mkldnn/__init__.py
Differs: oneDNN is not used, so they change nothing.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from glasstorch.backends import _switches
from glasstorch.backends._verbose import Verbose as _Verbose
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2
matmul = _switches.of_operator("mkldnn", "matmul")
conv = _switches.of_operator("mkldnn", "conv")
rnn = _switches.of_operator("mkldnn", "rnn")

set_flags = _switches.setter(
    __name__,
    _enabled=("enabled", None),
    _deterministic=("deterministic", None),
    _allow_tf32=("allow_tf32", None),
    _fp32_precision=("fp32_precision", "none"),
)


class verbose(_Verbose):
    """What oneDNN prints inside a `with` block: nothing, because it is not used."""

    levels = (VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION)

    def __init__(self, level: int) -> None:
        super().__init__(level)


def is_available() -> bool:
    """Whether oneDNN is used: no."""
    return False


def is_acl_available() -> bool:
    """Whether oneDNN uses the Arm Compute Library: no."""
    return False


def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none"
) -> AbstractContextManager[None]:
    """The switches as given inside a `with` block, and after it as they were."""
    return _switches.as_set(set_flags, enabled, deterministic, allow_tf32, fp32_precision)


__getattr__ = _refuse_unknown_names(__name__)

_switches.switchable(
    __name__,
    enabled=_switches.Switch(True, "set_enabled_mkldnn"),
    deterministic=_switches.Switch(False, "set_deterministic_mkldnn"),
    allow_tf32=_switches.Switch(None, "set_allow_tf32_mkldnn"),
    fp32_precision=_switches.Precision("mkldnn"),
)
