"""How does Adam update only those elements of a parameter that have a gradient?

Mirrors: torch/optim/sparse_adam.py, torch/optim/_functional.py (sparse_adam)

The averages of an element decay only in steps in which its gradient is specified, so that a step costs as much as there
are gradients, whatever the size of the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.operators.generated import functions as f
from glasstorch.optim.forms import _to_scalar, with_values
from glasstorch.optim.optimizer import Optimizer, ParamsT


class SparseAdam(Optimizer):
    """Adam for parameters whose gradients are sparse, as those of `Embedding(sparse=True)`; others are refused."""

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [
            [place, i]
            for place, group in enumerate(self.param_groups)
            for i, parameter in enumerate(group["params"])
            if parameter.is_sparse
        ]
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; `closure` computes the loss again and returns it."""
        loss = self._loss(closure)
        for group in self.param_groups:
            params = [parameter for parameter in group["params"] if parameter.grad is not None]
            for parameter in params:
                if not parameter.grad.is_sparse:
                    raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
                state = self.state[parameter]
                if not state:
                    state["step"] = 0
                    state["exp_avg"], state["exp_avg_sq"] = f.zeros_like(parameter), f.zeros_like(parameter)
                state["step"] += 1
            states = [self.state[parameter] for parameter in params]
            beta1, beta2 = group["betas"]
            sparse_adam(
                params,
                [parameter.grad for parameter in params],
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                [state["step"] for state in states],
                eps=group["eps"],
                beta1=beta1,
                beta2=beta2,
                lr=_to_scalar(group["lr"]),
                maximize=group["maximize"],
            )
        return loss


def sparse_adam(
    params: Iterable[Tensor],
    grads: Iterable[Tensor],
    exp_avgs: Iterable[Tensor],
    exp_avg_sqs: Iterable[Tensor],
    state_steps: Iterable[int],
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: Any,
    maximize: bool,
) -> None:
    """One step for parameters whose gradients and state are given as lists."""
    for parameter, given, mean, square, step in zip(params, grads, exp_avgs, exp_avg_sqs, state_steps, strict=True):
        grad = (-given if maximize else given).coalesce()  # the update is not linear: values must be added up first
        values = grad._values()
        if not values.numel():
            continue
        # Both averages move towards the gradient by a difference, which is what is added to them.
        old_mean = mean.sparse_mask(grad)._values()
        move = values.sub(old_mean).mul_(1 - beta1)
        mean.add_(with_values(grad, move))
        old_square = square.sparse_mask(grad)._values()
        move_of_square = values.pow(2).sub_(old_square).mul_(1 - beta2)
        square.add_(with_values(grad, move_of_square))
        numerator = move.add_(old_mean)
        denominator = move_of_square.add_(old_square).sqrt_().add_(eps)
        rate = lr * math.sqrt(1 - beta2**step) / (1 - beta1**step)
        parameter.add_(with_values(grad, -rate * numerator.div_(denominator)))
