"""Under which path do programs import the modes of gradients?

Mirrors: torch/autograd/grad_mode.py
Differs: re-exports of autograd/modes.py.
"""

from glasstorch.autograd.modes import enable_grad as enable_grad
from glasstorch.autograd.modes import inference_mode as inference_mode
from glasstorch.autograd.modes import no_grad as no_grad
from glasstorch.autograd.modes import set_grad_enabled as set_grad_enabled
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]

__getattr__ = refuse_unknown_names(__name__)
