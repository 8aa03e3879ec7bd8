"""How does Adamax update a parameter?

Mirrors: torch/optim/adamax.py
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


class Adamax(Optimizer):
    """Adam with the largest gradient so far, which decays by the second of `betas`, in place of the mean of squares."""

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
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
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._fill(foreach=None, maximize=False, differentiable=False, capturable=False)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_scalar(0.0, parameter, group),
            "exp_avg": f.zeros_like(parameter),
            "exp_inf": f.zeros_like(parameter),
        }

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            params, grads, exp_avgs, exp_infs, state_steps = self._gathered(group, "exp_avg", "exp_inf", "step")
            adamax(
                params,
                grads,
                exp_avgs,
                exp_infs,
                state_steps,
                eps=group["eps"],
                beta1=beta1,
                beta2=beta2,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def adamax(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_infs: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
) -> None:
    """One step for parameters whose gradients and state are given as lists."""
    check_steps(state_steps)
    form = _multi_tensor_adamax if foreach else _single_tensor_adamax
    form(
        params,
        grads,
        exp_avgs,
        exp_infs,
        state_steps,
        eps=eps,
        beta1=beta1,
        beta2=beta2,
        lr=_to_scalar(lr),
        weight_decay=weight_decay,
        maximize=maximize,
        differentiable=differentiable,
        capturable=capturable,
    )


def _single_tensor_adamax(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_infs: Tensors,
    state_steps: Tensors,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    check_capturable(capturable, params, state_steps)
    for i, parameter in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        step = state_steps[i].add_(1)
        if weight_decay != 0:
            grad = grad.add(parameter, alpha=weight_decay)
        parameter, grad, mean, largest = in_reals(parameter, grad, exp_avgs[i], exp_infs[i])
        mean.lerp_(grad, 1 - beta1)
        if differentiable:
            largest.copy_(f.amax(f.stack([largest.mul_(beta2), grad.abs().add_(eps)]), 0))
        else:
            f.maximum(largest.mul_(beta2), grad.abs().add_(eps), out=largest)
        if capturable:
            correction = (beta1**step - 1).div_(lr)
            parameter.addcdiv_(mean, largest * correction)
        else:
            parameter.addcdiv_(mean, largest, value=-(lr / (1 - beta1 ** _get_value(step))))


def _multi_tensor_adamax(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_infs: Tensors,
    state_steps: Tensors,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    check_multi(differentiable)
    if not params:
        return
    check_capturable(capturable, params, state_steps)
    grads = with_decay(towards(grads, maximize), params, weight_decay)
    f._foreach_add_(state_steps, 1)
    params, grads, exp_avgs, exp_infs = lists_in_reals(params, grads, exp_avgs, exp_infs)
    f._foreach_lerp_(exp_avgs, grads, 1 - beta1)
    f._foreach_mul_(exp_infs, beta2)
    sizes = f._foreach_abs(grads)
    f._foreach_add_(sizes, eps)
    f._foreach_maximum_(exp_infs, sizes)
    factors = [-(_get_value(lr) / (1 - beta1 ** _get_value(step))) for step in state_steps]
    f._foreach_addcdiv_(params, exp_avgs, exp_infs, factors)
