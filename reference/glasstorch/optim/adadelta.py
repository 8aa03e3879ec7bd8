"""How does Adadelta update a parameter?

Mirrors: torch/optim/adadelta.py
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
from glasstorch.optim.options import check_lr, check_not_negative


class Adadelta(Optimizer):
    """`p -= lr * delta`, where `delta = grad * sqrt(mean of squared deltas + eps) / sqrt(mean of squared grads + eps)`.

    Both means decay by `rho`.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._fill(foreach=None, maximize=False, differentiable=False, capturable=False)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_scalar(0.0, parameter, group),
            "square_avg": f.zeros_like(parameter),
            "acc_delta": f.zeros_like(parameter),
        }

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            params, grads, square_avgs, acc_deltas, state_steps = self._gathered(
                group, "square_avg", "acc_delta", "step"
            )
            adadelta(
                params,
                grads,
                square_avgs,
                acc_deltas,
                state_steps,
                lr=group["lr"],
                rho=group["rho"],
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def adadelta(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    acc_deltas: Tensors,
    state_steps: Tensors,
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One step for parameters whose gradients and state are given as lists."""
    check_steps(state_steps)
    form = _multi_tensor_adadelta if foreach else _single_tensor_adadelta
    form(
        params,
        grads,
        square_avgs,
        acc_deltas,
        state_steps,
        lr=_to_scalar(lr),
        rho=rho,
        eps=eps,
        weight_decay=weight_decay,
        maximize=maximize,
        differentiable=differentiable,
        capturable=capturable,
    )


def _single_tensor_adadelta(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    acc_deltas: Tensors,
    state_steps: Tensors,
    *,
    lr: Any,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    check_capturable(capturable, params, state_steps)
    for i, parameter in enumerate(params):
        state_steps[i].add_(1)
        grad = -grads[i] if maximize else grads[i]
        if weight_decay != 0:
            grad = grad.add(parameter, alpha=weight_decay)
        parameter, grad, square_mean, delta_mean = in_reals(parameter, grad, square_avgs[i], acc_deltas[i])
        square_mean.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        deviation = square_mean.add(eps).sqrt_()
        delta = delta_mean.add(eps).sqrt_()
        if differentiable:
            delta = delta.clone()
        delta.div_(deviation).mul_(grad)
        delta_mean.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        parameter.add_(delta, alpha=-lr)


def _multi_tensor_adadelta(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    acc_deltas: Tensors,
    state_steps: Tensors,
    *,
    lr: Any,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    check_multi(differentiable)
    check_capturable(capturable, params, state_steps)
    if not params:
        return
    f._foreach_add_(state_steps, 1)
    grads = with_decay(towards(grads, maximize), params, weight_decay)
    params, grads, square_avgs, acc_deltas = lists_in_reals(params, grads, square_avgs, acc_deltas)
    f._foreach_mul_(square_avgs, rho)
    f._foreach_addcmul_(square_avgs, grads, grads, value=1 - rho)
    deviations = f._foreach_add(square_avgs, eps)
    f._foreach_sqrt_(deviations)
    deltas = f._foreach_add(acc_deltas, eps)
    f._foreach_sqrt_(deltas)
    f._foreach_div_(deltas, deviations)
    f._foreach_mul_(deltas, grads)
    f._foreach_mul_(acc_deltas, rho)
    f._foreach_addcmul_(acc_deltas, deltas, deltas, value=1 - rho)
    f._foreach_add_(params, deltas, alpha=-_get_value(lr))
