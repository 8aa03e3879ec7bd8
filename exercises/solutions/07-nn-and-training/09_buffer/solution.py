"""Keeps a copy of the first gradient, so that changes to the gradient do not reach it."""

from __future__ import annotations

from typing import Any

from glasstorch import Tensor
from glasstorch.operators.generated import functions as f
from glasstorch.optim.forms import Tensors, _get_value, check_multi, towards, with_decay

FILE = "optim/sgd.py"
LINE = 206


def mended(
    params: Tensors,
    grads: Tensors,
    momentum_buffer_list: list[Tensor | None],
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    weight_decay: Any,
    momentum: float,
    lr: Any,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    check_multi(False, grad_scale, found_inf)
    if not params:
        return
    grads = with_decay(towards(grads, maximize), params, _get_value(weight_decay))
    if momentum != 0:
        old = [i for i, buffer in enumerate(momentum_buffer_list) if buffer is not None]
        if old:
            buffers = [momentum_buffer_list[i] for i in old]
            f._foreach_mul_(buffers, momentum)
            f._foreach_add_(buffers, [grads[i] for i in old], alpha=1 - dampening)
        for i, buffer in enumerate(momentum_buffer_list):
            if buffer is None:
                momentum_buffer_list[i] = grads[i].detach().clone()
        moved = [buffer for buffer in momentum_buffer_list if buffer is not None]
        grads = list(f._foreach_add(grads, moved, alpha=momentum)) if nesterov else moved
    f._foreach_add_(params, grads, alpha=-_get_value(lr))
