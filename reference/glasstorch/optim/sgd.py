"""How does SGD with momentum update a parameter?

Mirrors: torch/optim/sgd.py (_single_tensor_sgd)
Differs: no sparse gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import no_grad
from glasstorch.optim.optimizer import Optimizer, Parameters


class SGD(Optimizer):
    """`p -= lr * buffer`, where `buffer = momentum * buffer + (1 - dampening) * grad`.

    The buffer starts as the first gradient; without momentum it is the gradient. Before that, `weight_decay` adds this
    multiple of the parameter to its gradient. With `nesterov` the step uses `grad + momentum * buffer` instead of the
    buffer. `maximize` ascends instead of descending.
    """

    def __init__(
        self,
        params: Parameters,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError(f"Tensor lr must be 1-element, got size {tuple(lr.shape)}")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = self._loss(closure)
        for parameter, grad, group in self._gradients():
            self._update(parameter, grad, group)
        return loss

    def _update(self, parameter: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        momentum = group["momentum"]
        if group["maximize"]:
            grad = -grad
        if group["weight_decay"] != 0:
            grad = grad.add(parameter, alpha=group["weight_decay"])
        if momentum != 0:
            state = self.state[parameter]
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = grad.detach().clone()
            else:
                buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
        parameter.add_(grad, alpha=-float(group["lr"]))
