"""How does SGD with momentum update a parameter?

Mirrors: torch/optim/sgd.py
Differs: parameters are updated one by one unless `foreach` or `fused` says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.operators.generated import functions as f
from glasstorch.optim.forms import (
    Tensors,
    _get_value,
    _to_scalar,
    _use_grad_for_differentiable,
    check_fused,
    check_multi,
    check_scales,
    towards,
    with_decay,
)
from glasstorch.optim.optimizer import Optimizer, ParamsT
from glasstorch.optim.options import check_forms, check_single


class SGD(Optimizer):
    """`p -= lr * buffer`, where `buffer = momentum * buffer + (1 - dampening) * grad`.

    The buffer starts as the first gradient; without momentum it is the gradient. Before that, `weight_decay` adds this
    multiple of the parameter to its gradient. With `nesterov` the step uses `grad + momentum * buffer` instead of the
    buffer. `maximize` ascends instead of descending.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_single(lr)
        for words, number in (
            ("learning rate", lr),
            ("momentum value", momentum),
            ("weight_decay value", weight_decay),
        ):
            if number < 0.0:
                raise ValueError(f"Invalid {words}: {number}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_forms(fused, foreach, differentiable)
        if fused:
            self._step_supports_amp_scaling = True

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._fill(nesterov=False, maximize=False, foreach=None, differentiable=False, fused=False)

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            params = [parameter for parameter in group["params"] if parameter.grad is not None]
            if group["fused"]:
                for parameter in params:
                    check_fused(parameter)
            remembers = group["momentum"] != 0
            buffers = [self.state[p].get("momentum_buffer") for p in params] if remembers else []
            sgd(
                params,
                [parameter.grad for parameter in params],
                buffers,
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                lr=group["lr"],
                dampening=group["dampening"],
                nesterov=group["nesterov"],
                maximize=group["maximize"],
                foreach=group["foreach"],
                fused=group["fused"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
            )
            for parameter, buffer in zip(params, buffers, strict=False):
                self.state[parameter]["momentum_buffer"] = buffer
        return loss


def sgd(
    params: Tensors,
    d_p_list: Tensors,
    momentum_buffer_list: list[Tensor | None],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    *,
    weight_decay: float | Tensor,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """One step for parameters whose gradients and buffers are lists; missing buffers are put into theirs."""
    form = _multi_tensor_sgd if foreach else _fused_sgd if fused else _single_tensor_sgd
    form(
        params,
        d_p_list,
        momentum_buffer_list,
        grad_scale,
        found_inf,
        weight_decay=weight_decay,
        momentum=momentum,
        lr=_to_scalar(lr),
        dampening=dampening,
        nesterov=nesterov,
        maximize=maximize,
    )


def _single_tensor_sgd(
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
    check_scales(grad_scale, found_inf)
    for i, parameter in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        if weight_decay != 0:
            if isinstance(weight_decay, Tensor) and weight_decay.requires_grad:
                grad = grad.addcmul(parameter.clone(), weight_decay)
            else:
                grad = grad.add(parameter, alpha=weight_decay)
        if momentum != 0:
            buffer = momentum_buffer_list[i]
            if buffer is None:
                buffer = momentum_buffer_list[i] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
            grad = grad.add(buffer, alpha=momentum) if nesterov else buffer
        if isinstance(lr, Tensor) and lr.requires_grad:
            parameter.addcmul_(grad, lr, value=-1)
        else:
            parameter.add_(grad, alpha=-lr)


def _multi_tensor_sgd(
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


def _fused_sgd(
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
    if not params:
        return
    is_first_step = momentum != 0 and all(buffer is None for buffer in momentum_buffer_list)
    for i, buffer in enumerate(momentum_buffer_list):
        if buffer is None:
            momentum_buffer_list[i] = f.empty_like(grads[i]) if is_first_step else f.zeros_like(grads[i])
    f._fused_sgd_(
        params,
        grads,
        [buffer for buffer in momentum_buffer_list if buffer is not None],
        weight_decay=_get_value(weight_decay),
        momentum=momentum,
        lr=lr,
        dampening=dampening,
        nesterov=nesterov,
        maximize=maximize,
        is_first_step=is_first_step,
        grad_scale=grad_scale,
        found_inf=found_inf,
    )
