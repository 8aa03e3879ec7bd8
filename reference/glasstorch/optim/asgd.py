"""How does averaged SGD update a parameter?

Mirrors: torch/optim/asgd.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.operators.generated import functions as f
from glasstorch.optim.forms import (
    Tensors,
    _get_scalar_dtype,
    _get_value,
    _to_scalar,
    _use_grad_for_differentiable,
    check_capturable,
    check_multi,
    in_reals,
    lists_in_reals,
    towards,
    with_decay,
)
from glasstorch.optim.optimizer import Optimizer, ParamsT
from glasstorch.optim.options import check_lr, check_not_negative


class ASGD(Optimizer):
    """Gradient descent with rate `eta = lr / (1 + lambd * lr * t) ** alpha`, which also averages the parameters.

    The average `ax` begins with step `t0`; before that it is the parameter.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
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
        def number(value: float) -> Tensor:
            return f.full((), value, device=parameter.device, dtype=_get_scalar_dtype())

        return {
            "step": number(0.0),
            "eta": number(_get_value(group["lr"])),
            "mu": number(1.0),
            "ax": f.zeros_like(parameter),
        }

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            params, grads, axs, mus, etas, state_steps = self._gathered(group, "ax", "mu", "eta", "step")
            asgd(
                params,
                grads,
                axs,
                mus,
                etas,
                state_steps,
                lambd=group["lambd"],
                lr=group["lr"],
                t0=group["t0"],
                alpha=group["alpha"],
                weight_decay=group["weight_decay"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def asgd(
    params: Tensors,
    grads: Tensors,
    axs: Tensors,
    mus: Tensors,
    etas: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float | Tensor,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """One step for parameters whose gradients and state are given as lists."""
    form = _multi_tensor_asgd if foreach else _single_tensor_asgd
    form(
        params,
        grads,
        axs,
        mus,
        etas,
        state_steps,
        lambd=lambd,
        lr=_to_scalar(lr),
        t0=t0,
        alpha=alpha,
        weight_decay=weight_decay,
        maximize=maximize,
        differentiable=differentiable,
        capturable=capturable,
    )


def _single_tensor_asgd(
    params: Tensors,
    grads: Tensors,
    axs: Tensors,
    mus: Tensors,
    etas: Tensors,
    state_steps: Tensors,
    *,
    lambd: float,
    lr: Any,
    t0: float,
    alpha: float,
    weight_decay: float,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    check_capturable(capturable, params, mus, etas, state_steps, words="params, mus, etas, and state_steps")
    for i, parameter in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        parameter, grad, average = in_reals(parameter, grad, axs[i])
        mu, eta = mus[i], etas[i]
        step = state_steps[i].add_(1)
        if weight_decay != 0:
            grad = grad.add(parameter, alpha=weight_decay)
        if capturable:
            parameter.mul_(1 - lambd * eta).addcmul_(grad, eta, value=-1)
        else:
            rate = _get_value(eta)
            parameter.mul_(1 - lambd * rate).add_(grad, alpha=-rate)
        if capturable or mu.item() != 1:
            average.add_(parameter.sub(average).mul_(mu))
        else:
            average.copy_(parameter)
        count = step if capturable else _get_value(step)
        rate = lr / (1 + lambd * lr * count) ** alpha
        if capturable:
            eta.copy_(rate)
            mu.copy_(1 / f.maximum(step - t0, f.ones_like(step)))
        else:
            eta.fill_(rate)
            mu.fill_(1 / max(1, count - t0))


def _multi_tensor_asgd(
    params: Tensors,
    grads: Tensors,
    axs: Tensors,
    mus: Tensors,
    etas: Tensors,
    state_steps: Tensors,
    *,
    lambd: float,
    lr: Any,
    t0: float,
    alpha: float,
    weight_decay: float,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    if not params:
        return
    check_multi(differentiable)
    check_capturable(capturable, params, mus, etas, state_steps, words="params, mus, etas, and state_steps")
    grads = with_decay(towards(grads, maximize), params, weight_decay)
    f._foreach_add_(state_steps, 1)
    params, grads, axs = lists_in_reals(params, grads, axs)
    f._foreach_addcmul_(params, f._foreach_add(grads, params, alpha=lambd), etas, value=-1)
    f._foreach_addcmul_(axs, f._foreach_sub(params, axs), mus)
    for eta, mu, step in zip(etas, mus, state_steps, strict=True):
        eta.copy_(lr / (1 + lambd * lr * step) ** alpha)  # in the dtype of the step, unlike the single form
        mu.fill_(1 / max(1, _get_value(step) - t0))
