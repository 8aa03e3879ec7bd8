"""How does RAdam update a parameter?

Mirrors: torch/optim/radam.py
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
    check_capturable,
    check_multi,
    check_steps,
    in_reals,
    lists_in_reals,
    new_scalar,
    towards,
    with_decay,
)
from glasstorch.optim.optimizer import Optimizer, ParamsT
from glasstorch.optim.options import check_betas, check_lr, check_not_negative


class RAdam(Optimizer):
    """Adam whose steps are rectified: while the mean of squares varies much, they are smaller or leave it out."""

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._fill(foreach=None, maximize=False, differentiable=False, decoupled_weight_decay=False, capturable=False)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_scalar(0.0, parameter, group),
            "exp_avg": f.zeros_like(parameter),
            "exp_avg_sq": f.zeros_like(parameter),
        }

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            params, grads, exp_avgs, exp_avg_sqs, state_steps = self._gathered(group, "exp_avg", "exp_avg_sq", "step")
            radam(
                params,
                grads,
                exp_avgs,
                exp_avg_sqs,
                state_steps,
                beta1=beta1,
                beta2=beta2,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                eps=group["eps"],
                maximize=group["maximize"],
                foreach=group["foreach"],
                capturable=group["capturable"],
                differentiable=group["differentiable"],
                decoupled_weight_decay=group["decoupled_weight_decay"],
            )
        return loss


def radam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    state_steps: Tensors,
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
) -> None:
    """One step for parameters whose gradients and state are given as lists."""
    check_steps(state_steps)
    form = _multi_tensor_radam if foreach else _single_tensor_radam
    form(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        state_steps,
        beta1=beta1,
        beta2=beta2,
        lr=_to_scalar(lr),
        weight_decay=weight_decay,
        eps=eps,
        decoupled_weight_decay=decoupled_weight_decay,
        maximize=maximize,
        differentiable=differentiable,
        capturable=capturable,
    )


def _degrees(beta2: float, step: Any) -> tuple[float, Any]:
    """How many squares the mean of squares stands for, in the end and at this step."""
    limit = 2 / (1 - beta2) - 1
    return limit, limit - 2 * step * beta2**step / (1 - beta2**step)


def _rectification(limit: float, now: Any) -> Any:
    return ((now - 4) * (now - 2) * limit / ((limit - 4) * (limit - 2) * now)) ** 0.5


def _single_tensor_radam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    eps: float,
    decoupled_weight_decay: bool,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    check_capturable(capturable, params, state_steps)
    for i, parameter in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        parameter, grad, mean, square_mean = in_reals(parameter, grad, exp_avgs[i], exp_avg_sqs[i])
        counter = state_steps[i].add_(1)
        step = counter if capturable else _get_value(counter)
        if weight_decay != 0:
            if decoupled_weight_decay:
                parameter.mul_(1 - lr * weight_decay)
            else:
                grad = grad.add(parameter, alpha=weight_decay)
        mean.lerp_(grad, 1 - beta1)
        square_mean.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        corrected = mean / (1 - beta1**step)
        limit, now = _degrees(beta2, step)
        root = square_mean.sqrt()
        root = root.add(eps) if differentiable else root.add_(eps)
        rate = (1 - beta2**step) ** 0.5 / root
        if capturable:
            update = f.where(now > 5.0, _rectification(limit, now) * rate, 1.0)
            parameter.add_(corrected * lr * update, alpha=-1.0)
        elif now > 5.0:
            parameter.add_(corrected * lr * rate * _rectification(limit, now), alpha=-1.0)
        else:
            parameter.add_(corrected * lr, alpha=-1.0)


def _multi_tensor_radam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    state_steps: Tensors,
    *,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    eps: float,
    decoupled_weight_decay: bool,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    if not params:
        return
    check_multi(differentiable)
    check_capturable(capturable, params, state_steps)
    lr = _get_value(lr)
    f._foreach_add_(state_steps, 1)
    grads = towards(grads, maximize)
    if weight_decay != 0 and decoupled_weight_decay:
        f._foreach_mul_(params, 1 - lr * weight_decay)
    elif weight_decay != 0:
        grads = with_decay(grads, params, weight_decay)
    params, grads, exp_avgs, exp_avg_sqs = lists_in_reals(params, grads, exp_avgs, exp_avg_sqs)
    f._foreach_lerp_(exp_avgs, grads, 1 - beta1)
    f._foreach_mul_(exp_avg_sqs, beta2)
    f._foreach_addcmul_(exp_avg_sqs, grads, grads, value=1 - beta2)
    rectified, plain = [], []  # factors of the rectified step and of the one without the mean of squares
    for step in map(_get_value, state_steps):
        limit, now = _degrees(beta2, step)
        rate = lr / (1 - beta1**step)
        rectified.append(-((1 - beta2**step) ** 0.5 * rate * _rectification(limit, now)) if now > 5 else 0.0)
        plain.append(0.0 if now > 5 else -rate)
    updates = f._foreach_sqrt(exp_avg_sqs)
    f._foreach_add_(updates, eps)
    f._foreach_div_(updates, rectified)  # by 0 where the step is not rectified: its reciprocal is 0
    f._foreach_reciprocal_(updates)
    f._foreach_add_(updates, plain)
    f._foreach_addcmul_(params, exp_avgs, updates)
