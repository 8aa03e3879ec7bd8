"""How does NAdam update a parameter?

Mirrors: torch/optim/nadam.py
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


class NAdam(Optimizer):
    """Adam with Nesterov momentum, whose rate grows towards the first of `betas` as `momentum_decay` says."""

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
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
        check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._fill(maximize=False, foreach=None, capturable=False, differentiable=False, decoupled_weight_decay=False)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_scalar(0.0, parameter, group),
            "mu_product": new_scalar(1.0, parameter, group),
            "exp_avg": f.zeros_like(parameter),
            "exp_avg_sq": f.zeros_like(parameter),
        }

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            params, grads, exp_avgs, exp_avg_sqs, mu_products, state_steps = self._gathered(
                group, "exp_avg", "exp_avg_sq", "mu_product", "step"
            )
            nadam(
                params,
                grads,
                exp_avgs,
                exp_avg_sqs,
                mu_products,
                state_steps,
                beta1=beta1,
                beta2=beta2,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                momentum_decay=group["momentum_decay"],
                eps=group["eps"],
                maximize=group["maximize"],
                decoupled_weight_decay=group["decoupled_weight_decay"],
                foreach=group["foreach"],
                capturable=group["capturable"],
                differentiable=group["differentiable"],
            )
        return loss


def nadam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    mu_products: Tensors,
    state_steps: Tensors,
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float | Tensor,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """One step for parameters whose gradients and state are given as lists."""
    check_steps(state_steps)
    check_steps(mu_products, "mu_products")
    form = _multi_tensor_nadam if foreach else _single_tensor_nadam
    form(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        mu_products,
        state_steps,
        beta1=beta1,
        beta2=beta2,
        lr=_to_scalar(lr),
        weight_decay=weight_decay,
        momentum_decay=momentum_decay,
        eps=eps,
        decoupled_weight_decay=decoupled_weight_decay,
        maximize=maximize,
        capturable=capturable,
        differentiable=differentiable,
    )


def _momentum(beta1: float, step: Any, momentum_decay: float) -> Any:
    """The momentum of a step, which grows from half of beta1 to all of it."""
    return beta1 * (1.0 - 0.5 * 0.96 ** (step * momentum_decay))


def _single_tensor_nadam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    mu_products: Tensors,
    state_steps: Tensors,
    *,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
    decoupled_weight_decay: bool,
    maximize: bool,
    capturable: bool,
    differentiable: bool,
) -> None:
    words = "params, mu_products and state_steps"
    check_capturable(capturable, params, mu_products, state_steps, words=words)
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
        mu, mu_next = _momentum(beta1, step, momentum_decay), _momentum(beta1, step + 1, momentum_decay)
        product = mu_products[i].mul_(mu)
        mean.lerp_(grad, 1 - beta1)
        square_mean.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = square_mean.div(1 - beta2**step).sqrt()
        if differentiable or capturable:
            denominator = denominator.add(eps)
            parameter.addcdiv_(grad * (-lr * (1.0 - mu) / (1.0 - product)), denominator)
            parameter.addcdiv_(mean * (-lr * mu_next / (1.0 - product * mu_next)), denominator)
        else:
            denominator.add_(eps)
            so_far = _get_value(product)
            parameter.addcdiv_(grad, denominator, value=-lr * (1.0 - mu) / (1.0 - so_far))
            parameter.addcdiv_(mean, denominator, value=-lr * mu_next / (1.0 - so_far * mu_next))


def _multi_tensor_nadam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    mu_products: Tensors,
    state_steps: Tensors,
    *,
    beta1: float,
    beta2: float,
    lr: Any,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
    decoupled_weight_decay: bool,
    maximize: bool,
    capturable: bool,
    differentiable: bool,
) -> None:
    if not params:
        return
    check_multi(differentiable)
    words = "params, mu_products, and state_steps"
    check_capturable(capturable, params, mu_products, state_steps, words=words)
    lr = _get_value(lr)
    grads = towards(grads, maximize)
    f._foreach_add_(state_steps, 1)
    if weight_decay != 0 and decoupled_weight_decay:
        f._foreach_mul_(params, 1 - lr * weight_decay)
    elif weight_decay != 0:
        grads = with_decay(grads, params, weight_decay)
    params, grads, exp_avgs, exp_avg_sqs = lists_in_reals(params, grads, exp_avgs, exp_avg_sqs)
    f._foreach_lerp_(exp_avgs, grads, 1 - beta1)
    f._foreach_mul_(exp_avg_sqs, beta2)
    f._foreach_addcmul_(exp_avg_sqs, grads, grads, value=1 - beta2)
    steps = [_get_value(step) for step in state_steps]
    mus = [_momentum(beta1, step, momentum_decay) for step in steps]
    nexts = [_momentum(beta1, step + 1, momentum_decay) for step in steps]
    f._foreach_mul_(mu_products, mus)
    products = [_get_value(product) for product in mu_products]
    denominators = f._foreach_sqrt(exp_avg_sqs)
    f._foreach_div_(denominators, [(1 - beta2**step) ** 0.5 for step in steps])
    f._foreach_add_(denominators, eps)
    along_grads = [-(lr * (1.0 - mu) / (1.0 - done)) for mu, done in zip(mus, products, strict=True)]
    along_means = [-(lr * mu / (1.0 - done * mu)) for mu, done in zip(nexts, products, strict=True)]
    f._foreach_addcdiv_(params, grads, denominators, along_grads)
    f._foreach_addcdiv_(params, exp_avgs, denominators, along_means)
