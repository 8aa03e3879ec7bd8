"""How does Adam update a parameter?

Mirrors: torch/optim/adam.py
Differs: without `foreach` and `fused`, parameters on the CPU are updated by the fused operator
    where that gives the bits of the single form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import float32, float64
from glasstorch.nn.parameter import Parameter
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated import functions as f
from glasstorch.optim.forms import (
    Tensors,
    _get_value,
    _to_scalar,
    _use_grad_for_differentiable,
    check_capturable,
    check_multi,
    check_scales,
    check_steps,
    in_reals,
    lists_in_reals,
    new_scalar,
    towards,
    with_decay,
)
from glasstorch.optim.optimizer import Optimizer, ParamsT
from glasstorch.optim.options import check_betas, check_forms, check_lr, check_not_negative

WHOLE = (Tensor, Parameter)  # the classes of which the default form takes the fused operator

# What a fused step calls. The public functions would first look at the type of every tensor of six lists.
add_to_each = on_tensors("_foreach_add_.Scalar")
FUSED = {  # (whether the decay is decoupled, whether the learning rate is a tensor) -> the operator
    (False, False): on_tensors("_fused_adam_"),
    (False, True): on_tensors("_fused_adam_.tensor_lr"),
    (True, False): on_tensors("_fused_adamw_"),
    (True, True): on_tensors("_fused_adamw_.tensor_lr"),
}


class Adam(Optimizer):
    """`p -= lr * mean / (sqrt(mean of squares) + eps)`, with running means of the gradient and its square.

    `betas` are the decay rates of the two means, which are corrected for starting at 0. `amsgrad` divides by the
    largest mean of squares so far. `weight_decay` adds this multiple of the parameter to its gradient, or, if
    `decoupled_weight_decay`, shrinks the parameter itself.
    """

    def _refusal_of_sparse(self) -> str:
        return "Adam does not support sparse gradients, please consider SparseAdam instead"

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_lr(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        _check_kinds(betas, foreach, capturable)
        defaults = {
            "lr": lr,
            "betas": tuple(map(_to_scalar, betas)),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_forms(fused, foreach, differentiable)
        if fused:
            self._step_supports_amp_scaling = True

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._fill(amsgrad=False, maximize=False, foreach=None, capturable=False, differentiable=False, fused=None)
        self._fill(decoupled_weight_decay=False)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        state = {
            "step": new_scalar(0.0, parameter, group),
            "exp_avg": f.zeros_like(parameter),
            "exp_avg_sq": f.zeros_like(parameter),
        }
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = f.zeros_like(parameter)
        return state

    @_use_grad_for_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            largest = ("max_exp_avg_sq",) if group["amsgrad"] else ()
            params, grads, exp_avgs, exp_avg_sqs, steps, *more = self._gathered(
                group, "exp_avg", "exp_avg_sq", "step", *largest
            )
            if group["differentiable"] and any(step.requires_grad for step in steps):
                raise RuntimeError("`requires_grad` is not supported for `step` in differentiable mode")
            beta1, beta2 = group["betas"]
            adam(
                params,
                grads,
                exp_avgs,
                exp_avg_sqs,
                more[0] if more else [],
                steps,
                amsgrad=group["amsgrad"],
                beta1=beta1,
                beta2=beta2,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                eps=group["eps"],
                maximize=group["maximize"],
                foreach=group["foreach"],
                capturable=group["capturable"],
                differentiable=group["differentiable"],
                fused=group["fused"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
                decoupled_weight_decay=group["decoupled_weight_decay"],
            )
        return loss


def _check_kinds(betas: Any, foreach: bool | None, capturable: bool) -> None:
    """Both decay rates are numbers, or both are tensors of one element."""
    tensors = [isinstance(beta, Tensor) for beta in betas]
    if not all(tensors) and not all(isinstance(beta, float) for beta in betas):
        raise ValueError("betas must be either both floats or both Tensors")
    for index, beta in enumerate(betas):
        if not isinstance(beta, Tensor):
            continue
        if foreach and not capturable:
            raise ValueError(f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True")
        if beta.numel() != 1:
            raise ValueError(f"Tensor betas[{index}] must be 1-element")


def adam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: float | Tensor,
    beta2: float | Tensor,
    lr: float | Tensor,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One step for parameters whose gradients and state are given as lists. See Note [Forms of a step] (forms.py)."""
    check_steps(state_steps)
    in_place_of_single = False
    if fused is None and foreach is None and not (capturable or differentiable):
        numbers = (lr, beta1, beta2, weight_decay)
        fused = not any(isinstance(number, Tensor) for number in numbers) and _fits_fused(params, grads)
        in_place_of_single = fused
    form = _fused_adam if fused else _multi_tensor_adam if foreach else _single_tensor_adam
    form(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        grad_scale,
        found_inf,
        amsgrad=amsgrad,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=weight_decay,
        eps=eps,
        maximize=maximize,
        capturable=capturable,
        differentiable=differentiable,
        decoupled_weight_decay=decoupled_weight_decay,
    )
    if in_place_of_single:  # whose writes are counted; those of the fused operator are not
        for tensor in (*params, *exp_avgs, *exp_avg_sqs, *max_exp_avg_sqs):
            tensor.bump_version()


def _fits_fused(params: Tensors, grads: Tensors) -> bool:
    """Whether the fused operator gives the bits of the single form: in half precision it rounds less often."""
    return all(
        p.device.type == "cpu" and p.dtype in (float32, float64) and type(p) in WHOLE and type(g) is Tensor
        for p, g in zip(params, grads, strict=True)
    )


def _single_tensor_adam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: Any,
    eps: float,
    maximize: bool,
    capturable: bool,
    differentiable: bool,
    decoupled_weight_decay: bool,
) -> None:
    check_scales(grad_scale, found_inf)
    check_capturable(capturable, params, state_steps)
    lr, beta1, beta2 = _to_scalar(lr), _to_scalar(beta1), _to_scalar(beta2)
    for i, parameter in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        step = state_steps[i].add_(1)
        if weight_decay != 0:
            if decoupled_weight_decay:
                parameter.mul_(1 - lr * weight_decay)
            elif differentiable and isinstance(weight_decay, Tensor) and weight_decay.requires_grad:
                grad = grad.addcmul(parameter.clone(), weight_decay)
            else:
                grad = grad.add(parameter, alpha=weight_decay)
        parameter, grad, mean, square_mean = in_reals(parameter, grad, exp_avgs[i], exp_avg_sqs[i])
        mean.lerp_(grad, 1 - _like(beta1, parameter))
        if differentiable and isinstance(beta2, Tensor) and beta2.requires_grad:
            square_mean.lerp_(grad.square(), 1 - beta2)
        else:
            square_mean.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        # Bias correction: both means start at zero, and so are too small at first.
        recorded = capturable or differentiable
        count = step.clone() if recorded else _get_value(step)
        mean_correction = 1 - beta1**count
        square_mean_correction = 1 - beta2**count
        if amsgrad:
            (largest,) = in_reals(max_exp_avg_sqs[i])
            if differentiable:
                largest.copy_(f.maximum(largest.clone(), square_mean))
            else:
                f.maximum(largest, square_mean, out=largest)
            square_mean = largest
        if recorded:
            # The factor goes into the denominator, since `value=` would have to be read from the device.
            factor = -lr / mean_correction
            denominator = (square_mean.sqrt() / (square_mean_correction.sqrt() * factor)).add_(eps / factor)
            parameter.addcdiv_(mean.clone() if differentiable else mean, denominator)
        else:
            denominator = (square_mean.sqrt() / square_mean_correction**0.5).add_(eps)
            parameter.addcdiv_(mean, denominator, value=-(lr / mean_correction))


def _like(beta: Any, parameter: Tensor) -> Any:
    """A decay rate that is a tensor, on the device and in the dtype of a parameter."""
    return beta.to(parameter.device, parameter.dtype) if isinstance(beta, Tensor) else beta


def _multi_tensor_adam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: Any,
    eps: float,
    maximize: bool,
    capturable: bool,
    differentiable: bool,
    decoupled_weight_decay: bool,
) -> None:
    if not params:
        return
    for name, number in (("lr", lr), ("beta1", beta1), ("beta2", beta2)):
        if isinstance(number, Tensor) and not capturable:
            kind = RuntimeError if name == "lr" else ValueError
            raise kind(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
    check_capturable(capturable, params, state_steps)
    check_multi(differentiable, grad_scale, found_inf)
    lr, beta1, beta2 = (_get_value(number) for number in (lr, beta1, beta2))
    grads = towards(grads, maximize)
    f._foreach_add_(state_steps, 1)
    if weight_decay != 0 and decoupled_weight_decay:
        f._foreach_mul_(params, 1 - lr * weight_decay)
    elif weight_decay != 0:
        grads = with_decay(grads, params, weight_decay)
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs = lists_in_reals(
        params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs
    )
    f._foreach_lerp_(exp_avgs, grads, 1 - beta1)
    f._foreach_mul_(exp_avg_sqs, beta2)
    f._foreach_addcmul_(exp_avg_sqs, grads, grads, value=1 - beta2)
    steps = [_get_value(step) for step in state_steps]
    if amsgrad:
        f._foreach_maximum_(max_exp_avg_sqs, exp_avg_sqs)
    denominators = f._foreach_sqrt(max_exp_avg_sqs if amsgrad else exp_avg_sqs)
    f._foreach_div_(denominators, [(1 - beta2**step) ** 0.5 for step in steps])
    f._foreach_add_(denominators, eps)
    f._foreach_addcdiv_(params, exp_avgs, denominators, [-(lr / (1 - beta1**step)) for step in steps])


def _fused_adam(
    params: Tensors,
    grads: Tensors,
    exp_avgs: Tensors,
    exp_avg_sqs: Tensors,
    max_exp_avg_sqs: Tensors,
    state_steps: Tensors,
    grad_scale: Tensor | None,
    found_inf: Tensor | None,
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: Any,
    eps: float,
    maximize: bool,
    capturable: bool,
    differentiable: bool,
    decoupled_weight_decay: bool,
) -> None:
    if not params:
        return
    if differentiable:
        raise RuntimeError("Adam with fused=True does not support differentiable=True")
    add_to_each(state_steps, 1)
    of_tensor = isinstance(lr, Tensor)
    FUSED[decoupled_weight_decay, of_tensor](
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        _to_scalar(lr) if of_tensor else float(lr),
        float(_get_value(beta1)),
        float(_get_value(beta2)),
        float(weight_decay),
        float(eps),
        amsgrad,
        maximize,
        grad_scale,
        found_inf,
    )
    if found_inf is not None:
        f._foreach_sub_(state_steps, [found_inf.item()] * len(state_steps))
