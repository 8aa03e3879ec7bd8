"""How does Muon update a matrix?

Mirrors: torch/optim/_muon.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.operators.generated import functions as f
from glasstorch.optim.forms import Tensors, _to_scalar
from glasstorch.optim.optimizer import Optimizer, ParamsT
from glasstorch.optim.options import check_single

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the polynomial that brings singular values near 1
EPS = 1e-7
STEPS = 5
ADJUSTMENTS = ("original", "match_rms_adamw")


class Muon(Optimizer):
    """Momentum whose updates are made orthogonal: `p -= lr * U V^T`, where `U S V^T` is the buffer of the gradient.

    `ns_steps` steps of a Newton-Schulz iteration in bfloat16 stand for the decomposition. Parameters are matrices.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = COEFFICIENTS,
        eps: float = EPS,
        ns_steps: int = STEPS,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_single(lr)
        for words, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{words} should be >= 0 but is: {value}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ADJUSTMENTS:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {parameter.size()}"
                    )

    def _new_state(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"momentum_buffer": f.zeros_like(parameter)}

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for group in self.param_groups:
            if any(p.is_complex() for p in group["params"] if p.grad is not None):
                raise RuntimeError("Muon does not support complex parameters")
            params, grads, muon_momentum_bufs = self._gathered(group, "momentum_buffer")
            muon(
                params,
                grads,
                muon_momentum_bufs,
                lr=group["lr"],
                weight_decay=group["weight_decay"],
                momentum=group["momentum"],
                nesterov=group["nesterov"],
                ns_coefficients=group["ns_coefficients"],
                eps=group["eps"],
                ns_steps=group["ns_steps"],
                adjust_lr_fn=group["adjust_lr_fn"],
                has_complex=False,
            )
        return loss


def muon(
    params: Tensors,
    grads: Tensors,
    muon_momentum_bufs: Tensors,
    *,
    foreach: bool | None = None,
    lr: float | Tensor,
    weight_decay: float,
    momentum: float,
    nesterov: bool,
    ns_coefficients: tuple[float, float, float],
    ns_steps: int,
    eps: float,
    adjust_lr_fn: str | None,
    has_complex: bool,
) -> None:
    """One step for matrices whose gradients and buffers are given as lists."""
    if foreach:
        raise RuntimeError("Foreach is not supported for Muon yet")
    if has_complex:
        raise ValueError("Complex parameters are not supported")
    _check(grads, ns_coefficients, ns_steps)
    lr = _to_scalar(lr)
    for parameter, grad, buffer in zip(params, grads, muon_momentum_bufs, strict=True):
        buffer.lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if nesterov else buffer
        update = _zeropower_via_newtonschulz(update, ns_coefficients, ns_steps, eps)
        parameter.mul_(1 - lr * weight_decay)
        parameter.add_(update, alpha=-_adjust_lr(lr, adjust_lr_fn, parameter.shape))


def _check(grads: Tensors, ns_coefficients: tuple[float, ...], ns_steps: int) -> None:
    if any(grad.ndim != 2 for grad in grads):
        raise ValueError("Param gradient must be a 2D matrix")
    if ns_steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(ns_coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")


def _zeropower_via_newtonschulz(
    grad: Tensor, ns_coefficients: tuple[float, float, float], ns_steps: int, eps: float
) -> Tensor:
    """A matrix near the orthogonal factor of `grad`: its singular values are between 0.7 and 1.2, in bfloat16."""
    a, b, c = ns_coefficients
    result = grad.bfloat16()
    is_tall = grad.size(0) > grad.size(1)
    if is_tall:
        result = result.T
    result = result / result.norm().clamp(min=eps)
    for _ in range(ns_steps):
        gram = result @ result.T
        result = f.addmm(result, f.addmm(gram, gram, gram, beta=b, alpha=c), result, beta=a)
    return result.T if is_tall else result


def _adjust_lr(lr: Any, adjust_lr_fn: str | None, shape: Any) -> Any:
    """The rate for a matrix of these sizes."""
    rows, columns = shape[:2]
    if adjust_lr_fn == "match_rms_adamw":
        return lr * (0.2 * math.sqrt(max(rows, columns)))
    return lr * math.sqrt(max(1, rows / columns))
