"""How does Adagrad update a parameter?

Mirrors: torch/optim/adagrad.py
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
    check_steps,
    in_reals,
    lists_in_reals,
    new_scalar,
    towards,
    with_decay,
    with_values,
)
from glasstorch.optim.optimizer import Optimizer, ParamsT
from glasstorch.optim.options import check_forms, check_lr, check_not_negative


class Adagrad(Optimizer):
    """`p -= lr * grad / (sqrt(sum of squares) + eps)`, where the sum begins as `initial_accumulator_value`.

    The learning rate of step t, counted from 0, is `lr / (1 + t * lr_decay)`.
    """

    _takes_sparse = True

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative(
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        check_forms(fused, foreach, differentiable)
        if fused:
            self._step_supports_amp_scaling = True
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter] = self._new_state(parameter, group)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._fill(foreach=None, maximize=False, differentiable=False, fused=None)

    def share_memory(self) -> None:
        """Move the sums into memory that other processes can share."""
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter]["sum"].share_memory_()

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        initial = self.defaults["initial_accumulator_value"]
        if parameter.is_complex():
            initial = complex(initial, initial)
        return {"step": new_scalar(0.0, parameter, group), "sum": f.full_like(parameter, initial)}

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            params, grads, state_sums, state_steps = self._gathered(group, "sum", "step")
            if group["fused"]:
                for parameter in params:
                    check_fused(parameter)
            adagrad(
                params,
                grads,
                state_sums,
                state_steps,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                lr_decay=group["lr_decay"],
                eps=group["eps"],
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                fused=group["fused"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
            )
        return loss


def adagrad(
    params: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float | Tensor,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step for parameters whose gradients and state are given as lists."""
    check_steps(state_steps)
    if fused and any(grad.is_sparse for grad in grads):
        raise RuntimeError("`fused` does not support sparse grad or complex param")
    foreach = foreach and not any(grad.is_sparse for grad in grads)
    form = _fused_adagrad if fused else _multi_tensor_adagrad if foreach else _single_tensor_adagrad
    form(
        params,
        grads,
        state_sums,
        state_steps,
        grad_scale,
        found_inf,
        lr=_to_scalar(lr),
        weight_decay=weight_decay,
        lr_decay=lr_decay,
        eps=eps,
        maximize=maximize,
        differentiable=differentiable,
    )


def _single_tensor_adagrad(
    params: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    lr: Any,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
    differentiable: bool,
) -> None:
    check_scales(grad_scale, found_inf)
    for i, parameter in enumerate(params):
        step = _get_value(state_steps[i].add_(1))
        grad = -grads[i] if maximize else grads[i]
        if weight_decay != 0:
            if grad.is_sparse:
                raise RuntimeError("weight_decay option is not compatible with sparse gradients")
            grad = grad.add(parameter, alpha=weight_decay)
        rate = lr / (1 + (step - 1) * lr_decay)
        if grad.is_sparse:
            _sparse_step(parameter, grad.coalesce(), state_sums[i], rate, eps)
            continue
        parameter, grad, total = in_reals(parameter, grad, state_sums[i])
        total.addcmul_(grad, grad, value=1)
        deviation = total.sqrt().add(eps) if differentiable else total.sqrt().add_(eps)
        parameter.addcdiv_(grad, deviation, value=-rate)


def _sparse_step(parameter: Tensor, grad: Tensor, total: Tensor, rate: Any, eps: float) -> None:
    """The step where a gradient is specified; the rest of the parameter and of its sum stay as they are."""
    values = grad._values()
    total.add_(with_values(grad, values.pow(2)))
    deviation = total.sparse_mask(grad)._values().sqrt_().add_(eps)
    parameter.add_(with_values(grad, values / deviation), alpha=-rate)


def _multi_tensor_adagrad(
    params: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    lr: Any,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
    differentiable: bool,
) -> None:
    check_multi(differentiable, grad_scale, found_inf)
    if not params:
        return
    grads = with_decay(towards(grads, maximize), params, weight_decay)
    f._foreach_add_(state_steps, 1)
    params, grads, state_sums = lists_in_reals(params, grads, state_sums)
    rates = [-(_get_value(lr) / (1 + (_get_value(step) - 1) * lr_decay)) for step in state_steps]
    f._foreach_addcmul_(state_sums, grads, grads, value=1)
    deviations = f._foreach_sqrt(state_sums)
    f._foreach_add_(deviations, eps)
    f._foreach_addcdiv_(params, f._foreach_mul(grads, rates), deviations)


def _fused_adagrad(
    params: Tensors,
    grads: Tensors,
    state_sums: Tensors,
    state_steps: Tensors,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    lr: Any,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
    differentiable: bool,
) -> None:
    if not params:
        return
    if any(parameter.is_complex() for parameter in params):
        raise RuntimeError("`fused` does not support sparse grad or complex param")
    if differentiable:
        raise RuntimeError("adagrad with fused=True does not support differentiable=True")
    f._foreach_add_(state_steps, 1)
    f._fused_adagrad_(
        params,
        grads,
        state_sums,
        state_steps,
        lr=lr,
        lr_decay=lr_decay,
        weight_decay=weight_decay,
        eps=eps,
        maximize=maximize,
        grad_scale=grad_scale,
        found_inf=found_inf,
    )
    if found_inf is not None:
        f._foreach_sub_(state_steps, [found_inf.item()] * len(state_steps))
