"""How does a program recompute activations in the backward pass, so that it keeps fewer of them?

Reading order: `errors`, `switches` (for a whole block), `surroundings` (random states and autocast), `reentrant` (a
backward pass inside of one), `frame` (hooks for saved tensors), `operator_log` (what ran, for error messages),
`selective` (some results are kept), `regions` (checkpoint and checkpoint_sequential).

Mirrors: torch/utils/checkpoint.py
Differs: a folder; torch.compile is not told of checkpoints.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.utils.checkpoint.errors import CheckpointError as CheckpointError
from glasstorch.utils.checkpoint.frame import GraphExecGroup as GraphExecGroup
from glasstorch.utils.checkpoint.reentrant import CheckpointFunction as CheckpointFunction
from glasstorch.utils.checkpoint.reentrant import check_backward_validity as check_backward_validity
from glasstorch.utils.checkpoint.reentrant import detach_variable as detach_variable
from glasstorch.utils.checkpoint.regions import checkpoint as checkpoint
from glasstorch.utils.checkpoint.regions import checkpoint_sequential as checkpoint_sequential
from glasstorch.utils.checkpoint.regions import noop_context_fn as noop_context_fn
from glasstorch.utils.checkpoint.selective import SAC_IGNORED_OPS as SAC_IGNORED_OPS
from glasstorch.utils.checkpoint.selective import CheckpointPolicy as CheckpointPolicy
from glasstorch.utils.checkpoint.selective import SelectiveCheckpointContext as SelectiveCheckpointContext
from glasstorch.utils.checkpoint.selective import (
    create_selective_checkpoint_contexts as create_selective_checkpoint_contexts,
)
from glasstorch.utils.checkpoint.surroundings import DefaultDeviceType as DefaultDeviceType
from glasstorch.utils.checkpoint.surroundings import get_device_states as get_device_states
from glasstorch.utils.checkpoint.surroundings import set_device_states as set_device_states
from glasstorch.utils.checkpoint.switches import set_checkpoint_debug_enabled as set_checkpoint_debug_enabled
from glasstorch.utils.checkpoint.switches import set_checkpoint_early_stop as set_checkpoint_early_stop

__getattr__ = refuse_unknown_names(__name__)

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]
