"""How does Adam update a parameter?

Mirrors: torch/optim/adam.py (_single_tensor_adam), torch/optim/adamw.py
Differs: no sparse gradients; betas are numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.operators.generated import functions as operators
from glasstorch.optim.optimizer import Optimizer, Parameters


class Adam(Optimizer):
    """`p -= lr * mean / (sqrt(mean of squares) + eps)`, with running means of the gradient and its square.

    `betas` are the decay rates of the two means, which are corrected for starting at 0. `amsgrad` divides by the
    largest mean of squares so far. `weight_decay` adds this multiple of the parameter to its gradient, or, if
    `decoupled_weight_decay`, shrinks the parameter itself.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
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
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError(f"Tensor lr must be 1-element, got size {tuple(lr.shape)}")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps >= 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for index, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        if not weight_decay >= 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        defaults = {
            "lr": lr,
            "betas": betas,
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

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for parameter, grad, group in self._gradients():
            self._update(parameter, grad, group)
        return loss

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["step"] = operators.zeros(())
            state["exp_avg"] = operators.zeros_like(parameter)
            state["exp_avg_sq"] = operators.zeros_like(parameter)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = operators.zeros_like(parameter)
        lr, weight_decay = float(group["lr"]), group["weight_decay"]
        beta1, beta2 = group["betas"]
        step = float(state["step"].add_(1))
        if group["maximize"]:
            grad = -grad
        if weight_decay != 0:
            if group["decoupled_weight_decay"]:
                parameter.mul_(1 - lr * weight_decay)
            else:
                grad = grad.add(parameter, alpha=weight_decay)

        mean, square_mean = state["exp_avg"], state["exp_avg_sq"]
        largest = state.get("max_exp_avg_sq")
        if parameter.is_complex():  # real and imaginary parts are updated separately
            parameter, grad, mean, square_mean = map(operators.view_as_real, (parameter, grad, mean, square_mean))
            largest = None if largest is None else operators.view_as_real(largest)
        mean.lerp_(grad, 1 - beta1)
        square_mean.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if largest is not None:
            square_mean = operators.maximum(largest, square_mean, out=largest)
        # Bias correction: both means start at zero, and so are too small at first.
        mean_correction = 1 - beta1**step
        square_mean_correction = 1 - beta2**step
        denominator = (square_mean.sqrt() / square_mean_correction**0.5).add_(group["eps"])
        parameter.addcdiv_(mean, denominator, value=-lr / mean_correction)


class AdamW(Adam):
    """Adam with decoupled weight decay: it shrinks the parameter itself, and bypasses the running means."""

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
