"""How does RMSprop update a parameter?

Mirrors: torch/optim/rmsprop.py
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


class RMSprop(Optimizer):
    """`p -= lr * grad / (sqrt(mean of squares) + eps)`, where the mean decays by `alpha`.

    `centered` subtracts the squared mean of the gradient from the mean of squares. With `momentum` the quotients are
    gathered in a buffer, as gradients are in SGD.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._fill(momentum=0, centered=False, foreach=None, maximize=False, differentiable=False, capturable=False)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {"step": new_scalar(0.0, parameter, group), "square_avg": f.zeros_like(parameter)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = f.zeros_like(parameter)
        if group["centered"]:
            state["grad_avg"] = f.zeros_like(parameter)
        return state

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            names = ["momentum_buffer"] * (group["momentum"] > 0) + ["grad_avg"] * bool(group["centered"])
            params, grads, square_avgs, steps, *lists = self._gathered(group, "square_avg", "step", *names)
            more = dict(zip(names, lists, strict=True))
            rmsprop(
                params,
                grads,
                square_avgs,
                more.get("grad_avg", []),
                more.get("momentum_buffer", []),
                steps,
                lr=group["lr"],
                alpha=group["alpha"],
                eps=group["eps"],
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                centered=group["centered"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def rmsprop(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    grad_avgs: Tensors,
    momentum_buffer_list: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """One step for parameters whose gradients and state are given as lists."""
    check_steps(state_steps)
    form = _multi_tensor_rmsprop if foreach else _single_tensor_rmsprop
    form(
        params,
        grads,
        square_avgs,
        grad_avgs,
        momentum_buffer_list,
        state_steps,
        lr=_to_scalar(lr),
        alpha=alpha,
        eps=eps,
        weight_decay=weight_decay,
        momentum=momentum,
        centered=centered,
        maximize=maximize,
        differentiable=differentiable,
        capturable=capturable,
    )


def _single_tensor_rmsprop(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    grad_avgs: Tensors,
    momentum_buffer_list: Tensors,
    state_steps: Tensors,
    *,
    lr: Any,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    check_capturable(capturable, params, state_steps)
    for i, parameter in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        state_steps[i].add_(1)
        if weight_decay != 0:
            grad = grad.add(parameter, alpha=weight_decay)
        parameter, grad, square_mean = in_reals(parameter, grad, square_avgs[i])
        square_mean.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if centered:
            (mean,) = in_reals(grad_avgs[i])
            mean.lerp_(grad, 1 - alpha)
            deviation = square_mean.addcmul(mean, mean, value=-1).sqrt_()
        else:
            deviation = square_mean.sqrt()
        # The derivative of sqrt reads its result, which therefore stays as it is where it is recorded.
        deviation = deviation.add(eps) if differentiable else deviation.add_(eps)
        if momentum > 0:
            (buffer,) = in_reals(momentum_buffer_list[i])
            buffer.mul_(momentum).addcdiv_(grad, deviation)
            parameter.add_(buffer, alpha=-lr)
        else:
            parameter.addcdiv_(grad, deviation, value=-lr)


def _multi_tensor_rmsprop(
    params: Tensors,
    grads: Tensors,
    square_avgs: Tensors,
    grad_avgs: Tensors,
    momentum_buffer_list: Tensors,
    state_steps: Tensors,
    *,
    lr: Any,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    if not params:
        return
    check_multi(differentiable)
    check_capturable(capturable, params, state_steps)
    grads = with_decay(towards(grads, maximize), params, weight_decay)
    f._foreach_add_(state_steps, 1)
    params, grads, square_avgs, grad_avgs, momentum_buffer_list = lists_in_reals(
        params, grads, square_avgs, grad_avgs, momentum_buffer_list
    )
    f._foreach_mul_(square_avgs, alpha)
    f._foreach_addcmul_(square_avgs, grads, grads, value=1 - alpha)
    if centered:
        f._foreach_lerp_(grad_avgs, grads, 1 - alpha)
        deviations = f._foreach_addcmul(square_avgs, grad_avgs, grad_avgs, value=-1)
        f._foreach_sqrt_(deviations)
    else:
        deviations = f._foreach_sqrt(square_avgs)
    f._foreach_add_(deviations, eps)
    if momentum > 0:
        f._foreach_mul_(momentum_buffer_list, momentum)
        f._foreach_addcdiv_(momentum_buffer_list, grads, deviations)
        f._foreach_add_(params, momentum_buffer_list, alpha=-_get_value(lr))
    else:
        f._foreach_addcdiv_(params, grads, deviations, value=-_get_value(lr))
