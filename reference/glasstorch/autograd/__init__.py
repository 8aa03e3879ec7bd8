"""How are gradients recorded and run?

Reading order: `modes` (no_grad), `engine_modes` (further settings; `grad_mode` is the path of both in PyTorch),
`anomaly_mode`, `runs_again` (who is told of checkpoints), `hooks`, `node`, `accumulate_grad`, `history` (from tensors
to nodes), `saved_hooks`,
`saved_mutation`, `saved` (tensors for the backward pass, and the check of their versions); then views and writes:
`seen`, `views`, `copy_slices`, `inplace_or_view` (makers of ADInplaceOrView kernels), `in_place` (makers of autograd
kernels), `out_forms`, `records_parts`, `records_nothing`; then `composite_shortcuts` and `shortcuts` (hops that a
call can skip), `view_replay`, `view_functions`, `input_buffer`, `engine` (the backward pass), `device_threads` (in
which thread its nodes run), `streams` (on which streams of a device), `tensor_hooks`, `multi_grad_hook`,
`once_differentiable`, `function_node`, `function_jvp`, `function_outputs` and `function` (a user's own), `graph`
(backward, grad), `imperative_engine`, `swap_tensors`, `formulas/` (helpers that derivatives.yaml calls); forward
mode: `tangents`, `forward_table` (the rules), `forward` (their place in the dispatcher), `forward_ad` (what a user
calls); `checking/` and `gradcheck`, `variable` (of old programs), `manual` (kernels written by hand),
`not_implemented`, `unregistered` (of users' operators), `generated/` (autograd kernels, the rows of ADInplaceOrView
kernels, the rules of tangents) and `loading` (which imports them).
`functional`, `profiler`, `profiler_util` and `profiler_legacy` are torch's paths to what folders above hold.

Mirrors: torch/csrc/autograd, torch/autograd
Differs: Python throughout.
"""

from glasstorch.autograd import copy_slices as copy_slices
from glasstorch.autograd import forward_ad as forward_ad
from glasstorch.autograd.anomaly_mode import detect_anomaly as detect_anomaly
from glasstorch.autograd.anomaly_mode import set_detect_anomaly as set_detect_anomaly
from glasstorch.autograd.engine import is_checkpoint_valid as _is_checkpoint_valid  # noqa: F401  (PyTorch has it here)
from glasstorch.autograd.engine_modes import _unsafe_preserve_version_counter as _unsafe_preserve_version_counter
from glasstorch.autograd.engine_modes import enforce_grad_layout_policy as enforce_grad_layout_policy
from glasstorch.autograd.engine_modes import is_multithreading_enabled as is_multithreading_enabled
from glasstorch.autograd.engine_modes import set_multithreading_enabled as set_multithreading_enabled
from glasstorch.autograd.function import Function as Function
from glasstorch.autograd.function import NestedIOFunction as NestedIOFunction
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
from glasstorch.autograd.variable import variable as variable
from glasstorch.autograd.view_replay import _force_original_view_tracking as _force_original_view_tracking
from glasstorch.autograd.view_replay import is_view_replay_enabled as is_view_replay_enabled
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

__getattr__ = _refuse_unknown_names(
    __name__, ("functional", "grad_mode", "profiler", "profiler_legacy", "profiler_util")
)
