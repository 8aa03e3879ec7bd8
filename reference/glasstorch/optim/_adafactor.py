"""How does Adafactor update a parameter?

Mirrors: torch/optim/_adafactor.py
Differs: the default of the first `eps` is that of each parameter's dtype; PyTorch keeps that of
    the first parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.core.type_info import finfo
from glasstorch.operators.generated import functions as f
from glasstorch.optim.forms import Tensors, _get_value, _to_scalar, check_steps, new_scalar, towards
from glasstorch.optim.optimizer import Optimizer, ParamsT
from glasstorch.optim.options import check_single


class Adafactor(Optimizer):
    """Adam whose mean of squares of a matrix is kept as the means of its rows and of its columns.

    The rate is `lr` times the root mean square of the parameter, at least `eps[1]`; updates with a root mean square
    above `d` are scaled down to it. Means decay by `1 - step ** beta2_decay`.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_single(lr)
        for words, value, holds in (
            ("Learning rate should be >= 0", lr, lr >= 0.0),
            ("beta2_decay should be <= 0", beta2_decay, beta2_decay <= 0.0),
            ("epsilon1 should be >= 0", eps[0], eps[0] is None or eps[0] >= 0.0),
            ("epsilon2 should be >= 0", eps[1], eps[1] >= 0.0),
            ("Clipping threshold d should be >= 1", d, d >= 1.0),
            ("weight_decay should be >= 0", weight_decay, weight_decay >= 0.0),
        ):
            if not holds:
                raise ValueError(f"{words} but is: {value}")
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._fill(foreach=None)

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        shape = parameter.shape
        state = {"step": new_scalar(0.0, parameter, group)}
        if parameter.dim() > 1:
            state["row_var"] = parameter.new_zeros([*shape[:-1], 1])
            state["col_var"] = parameter.new_zeros([*shape[:-2], 1, shape[-1]])
        else:
            state["variance"] = f.zeros_like(parameter)
        return state

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            if any(p.is_complex() for p in group["params"] if p.grad is not None):
                raise RuntimeError("Adafactor does not support complex parameters")
            params, grads, steps = self._gathered(group, "step")
            states = [self.state[parameter] for parameter in params]
            eps1, eps2 = group["eps"]
            adafactor(
                params,
                grads,
                [state.get("row_var") for state in states],
                [state.get("col_var") for state in states],
                [state.get("variance") for state in states],
                steps,
                d=group["d"],
                lr=group["lr"],
                beta2_decay=group["beta2_decay"],
                weight_decay=group["weight_decay"],
                eps1=eps1,
                eps2=eps2,
                foreach=group["foreach"],
                maximize=group["maximize"],
                grad_scale=getattr(self, "grad_scale", None),
                found_inf=getattr(self, "found_inf", None),
            )
        return loss


def adafactor(
    params: Tensors,
    grads: Tensors,
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: Tensors,
    foreach: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    d: float,
    lr: float | Tensor,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    """One step for parameters whose gradients and state, means of rows and columns or of elements, are lists."""
    check_steps(state_steps)
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Grad scaling should occur outside of optimizer.step()")
    form = _multi_tensor_adafactor if foreach else _single_tensor_adafactor
    form(
        params,
        grads,
        row_vars,
        col_vars,
        variances,
        state_steps,
        d=d,
        lr=_get_value(_to_scalar(lr)),
        beta2_decay=beta2_decay,
        weight_decay=weight_decay,
        eps1=eps1,
        eps2=eps2,
        maximize=maximize,
    )


def _rms(tensor: Tensor) -> Any:
    """The root mean square, as a number."""
    return tensor.norm(2).item() / tensor.numel() ** 0.5


def _rate(parameter: Tensor, step: float, lr: float, eps2: float) -> float:
    return max(eps2, _rms(parameter)) * min(lr, 1 / step**0.5)  # type: ignore[no-any-return]


def _mean_square(grad: Tensor, dim: int) -> Tensor:
    return f.linalg_vector_norm(grad, 2, [dim], True).square_().div_(grad.size(dim))


def _single_tensor_adafactor(
    params: Tensors,
    grads: Tensors,
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: Tensors,
    *,
    d: float,
    lr: float,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    for i, parameter in enumerate(params):
        grad = -grads[i] if maximize else grads[i]
        row_var, col_var, variance = row_vars[i], col_vars[i], variances[i]
        least = finfo(parameter.dtype).eps if eps1 is None else eps1
        step = _get_value(state_steps[i].add_(1))
        weight = step**beta2_decay
        rate = _rate(parameter, step, lr, eps2)
        if weight_decay != 0:
            parameter.mul_(1 - lr * weight_decay)
        if grad.dim() > 1:
            assert row_var is not None
            assert col_var is not None
            row_var.lerp_(_mean_square(grad, -1), weight)
            col_var.lerp_(_mean_square(grad, -2), weight)
            estimate = row_var @ col_var
            estimate.div_(row_var.mean(dim=-2, keepdim=True).clamp_(min=least))
        else:
            assert variance is not None
            estimate = variance.lerp_(grad * grad, weight).clone()
        update = estimate.clamp_(min=least * least).rsqrt_().mul_(grad)
        parameter.add_(update, alpha=-rate / max(1.0, _rms(update) / d))


def _multi_tensor_adafactor(
    params: Tensors,
    grads: Tensors,
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: Tensors,
    *,
    d: float,
    lr: float,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    """Matrices and vectors are updated as two lists."""
    grads = towards(grads, maximize)
    for is_matrix in (True, False):
        some = [i for i, grad in enumerate(grads) if (grad.dim() > 1) is is_matrix]
        if not some:
            continue
        parameters, along, counters = ([tensors[i] for i in some] for tensors in (params, grads, state_steps))
        f._foreach_add_(counters, 1)
        steps = [_get_value(step) for step in counters]
        weights = [step**beta2_decay for step in steps]
        rates = [_rate(p, step, lr, eps2) for p, step in zip(parameters, steps, strict=True)]
        least = [finfo(p.dtype).eps if eps1 is None else eps1 for p in parameters]
        if weight_decay != 0:
            f._foreach_mul_(parameters, 1 - lr * weight_decay)
        if is_matrix:
            rows, columns = ([tensors[i] for i in some] for tensors in (row_vars, col_vars))
            f._foreach_lerp_(rows, [_mean_square(grad, -1) for grad in along], weights)
            f._foreach_lerp_(columns, [_mean_square(grad, -2) for grad in along], weights)
            means = [row.mean(dim=-2, keepdim=True) for row in rows]  # type: ignore[union-attr]
            f._foreach_clamp_min_(means, least)
            updates = [row @ column for row, column in zip(rows, columns, strict=True)]  # type: ignore[operator]
            f._foreach_div_(updates, means)
        else:
            kept = [variance for i in some if (variance := variances[i]) is not None]
            f._foreach_lerp_(kept, f._foreach_mul(along, along), weights)
            updates = list(f._foreach_clone(kept))
        f._foreach_clamp_min_(updates, [number * number for number in least])
        f._foreach_rsqrt_(updates)
        f._foreach_mul_(updates, along)
        scales = [-rate / max(1.0, _rms(update) / d) for rate, update in zip(rates, updates, strict=True)]
        f._foreach_mul_(updates, scales)
        f._foreach_add_(parameters, updates)
