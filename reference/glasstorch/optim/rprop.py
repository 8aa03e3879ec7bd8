"""How does Rprop update a parameter?

Mirrors: torch/optim/rprop.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.operators.generated import functions as f
from glasstorch.optim.forms import (
    Tensors,
    _to_scalar,
    _use_grad_for_differentiable,
    check_capturable,
    check_multi,
    check_steps,
    in_reals,
    lists_in_reals,
    new_scalar,
    towards,
)
from glasstorch.optim.optimizer import Optimizer, ParamsT
from glasstorch.optim.options import check_lr


class Rprop(Optimizer):
    """`p -= sign(grad) * size`, with a step size for each element.

    A size grows by the second of `etas` while the gradient keeps its sign, and shrinks by the first, without a step,
    where the sign changes; it stays within `step_sizes` and starts as `lr`.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
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
        size = _to_scalar(group["lr"])
        if parameter.is_complex():
            size = complex(size, size)
        return {
            "step": new_scalar(0.0, parameter, group),
            "prev": f.zeros_like(parameter),
            "step_size": f.full_like(parameter.grad, size),  # type: ignore[arg-type]
        }

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            etaminus, etaplus = group["etas"]
            step_size_min, step_size_max = group["step_sizes"]
            params, grads, prevs, step_sizes, state_steps = self._gathered(group, "prev", "step_size", "step")
            rprop(
                params,
                grads,
                prevs,
                step_sizes,
                state_steps,
                step_size_min=step_size_min,
                step_size_max=step_size_max,
                etaminus=etaminus,
                etaplus=etaplus,
                foreach=group["foreach"],
                maximize=group["maximize"],
                differentiable=group["differentiable"],
                capturable=group["capturable"],
            )
        return loss


def rprop(
    params: Tensors,
    grads: Tensors,
    prevs: Tensors,
    step_sizes: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """One step for parameters whose gradients and state are given as lists."""
    check_steps(state_steps)
    form = _multi_tensor_rprop if foreach else _single_tensor_rprop
    form(
        params,
        grads,
        prevs,
        step_sizes,
        state_steps,
        step_size_min=step_size_min,
        step_size_max=step_size_max,
        etaminus=etaminus,
        etaplus=etaplus,
        maximize=maximize,
        differentiable=differentiable,
        capturable=capturable,
    )


def _factors(signs: Tensor, etaminus: float, etaplus: float) -> Tensor:
    """By how much each step size changes, given the signs of the products of both gradients."""
    signs.copy_(f.where(signs.gt(0), etaplus, signs))
    signs.copy_(f.where(signs.lt(0), etaminus, signs))
    return signs.copy_(f.where(signs.eq(0), 1, signs))


def _single_tensor_rprop(
    params: Tensors,
    grads: Tensors,
    prevs: Tensors,
    step_sizes: Tensors,
    state_steps: Tensors,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    check_capturable(capturable, params, state_steps)
    for i, parameter in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        state_steps[i].add_(1)
        parameter, grad, previous, size = in_reals(parameter, grad, prevs[i], step_sizes[i])
        factor = _factors(grad.mul(previous.clone() if differentiable else previous).sign(), etaminus, etaplus)
        size.mul_(factor).clamp_(step_size_min, step_size_max)
        grad = f.where(factor.eq(etaminus), 0, grad)  # no step where the sign has changed
        parameter.addcmul_(grad.sign(), size, value=-1)
        previous.copy_(grad)


def _multi_tensor_rprop(
    params: Tensors,
    grads: Tensors,
    prevs: Tensors,
    step_sizes: Tensors,
    state_steps: Tensors,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
    maximize: bool,
    differentiable: bool,
    capturable: bool,
) -> None:
    if not params:
        return
    check_multi(differentiable)
    check_capturable(capturable, params, state_steps)
    f._foreach_add_(state_steps, 1)
    params, grads, prevs, step_sizes = lists_in_reals(params, towards(grads, maximize), prevs, step_sizes)
    signs = f._foreach_mul(grads, prevs)
    f._foreach_copy_(prevs, grads)
    f._foreach_sign_(signs)
    factors = [_factors(sign, etaminus, etaplus) for sign in signs]
    f._foreach_mul_(step_sizes, factors)
    for size, factor, grad in zip(step_sizes, factors, prevs, strict=True):
        size.clamp_(step_size_min, step_size_max)
        grad.copy_(f.where(factor.eq(etaminus), 0, grad))
    f._foreach_addcmul_(params, f._foreach_sign(prevs), step_sizes, value=-1)
