"""How are gradients recorded and run?

Reading order: `modes` (no_grad; `grad_mode` is its path in PyTorch), `anomaly_mode`, `hooks`, `node`,
`accumulate_grad`, `history` (from tensors to nodes), `saved_hooks`, `saved` (tensors for the backward pass, and the
check of their versions); then views and writes: `seen`, `views`, `copy_slices`, `inplace_or_view` (makers of
ADInplaceOrView kernels), `in_place` (makers of autograd kernels), `out_forms`; then `composite_shortcuts` and
`shortcuts` (hops that a call can skip), `input_buffer`, `engine` (the backward pass), `multi_grad_hook`,
`once_differentiable`, `function` (a user's own), `graph` (backward, grad), `formulas/` (helpers that derivatives.yaml
calls), `gradcheck`, `variable` (of old programs), `manual` (kernels written by hand), `not_implemented`, `generated/`
(autograd kernels, and the rows of ADInplaceOrView kernels) and `loading` (which imports them). `profiler`,
`profiler_util` and `profiler_legacy` are torch's paths to what the folder of that name above holds.

Mirrors: torch/csrc/autograd, torch/autograd
Differs: Python throughout.
"""

from glasstorch.autograd import copy_slices as copy_slices
from glasstorch.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from glasstorch.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from glasstorch.autograd.engine import is_checkpoint_valid as _is_checkpoint_valid  # noqa: F401  (PyTorch has it here)
from glasstorch.autograd.function import Function as Function
from glasstorch.autograd.gradcheck import gradcheck as gradcheck
from glasstorch.autograd.gradcheck import gradgradcheck as gradgradcheck
from glasstorch.autograd.graph import backward as backward
from glasstorch.autograd.graph import grad as grad
from glasstorch.autograd.loading import register_autograd_kernels as register_autograd_kernels
from glasstorch.autograd.modes import enable_grad as enable_grad
from glasstorch.autograd.modes import inference_mode as inference_mode
from glasstorch.autograd.modes import no_grad as no_grad
from glasstorch.autograd.modes import set_grad_enabled as set_grad_enabled
from glasstorch.autograd.variable import Variable as Variable
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

variable = Variable  # as in PyTorch, where its module has this name too

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]

__getattr__ = _refuse_unknown_names(__name__, ("grad_mode", "profiler", "profiler_legacy", "profiler_util"))
