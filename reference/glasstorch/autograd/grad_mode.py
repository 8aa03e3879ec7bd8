"""Under which path do programs import the modes of gradients?

Mirrors: torch/autograd/grad_mode.py
Differs: mostly re-exports, of autograd/modes.py and autograd/engine_modes.py.
"""

from glasstorch.autograd.engine_modes import _unsafe_preserve_version_counter as _unsafe_preserve_version_counter
from glasstorch.autograd.engine_modes import enforce_grad_layout_policy as enforce_grad_layout_policy
from glasstorch.autograd.engine_modes import set_multithreading_enabled as set_multithreading_enabled
from glasstorch.autograd.modes import enable_grad as enable_grad
from glasstorch.autograd.modes import inference_mode as inference_mode
from glasstorch.autograd.modes import no_grad as no_grad
from glasstorch.autograd.modes import set_grad_enabled as set_grad_enabled
from glasstorch.autograd.view_replay import _force_original_view_tracking as _force_original_view_tracking
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


def _enter_inference_mode(mode: bool) -> inference_mode:
    """Begin a block of inference mode, as a captured graph does, and give what ends it."""
    found = inference_mode(mode)
    found.__enter__()
    return found


def _exit_inference_mode(mode: inference_mode) -> None:
    """End a block of inference mode."""
    mode.__exit__(None, None, None)


__getattr__ = refuse_unknown_names(__name__)
