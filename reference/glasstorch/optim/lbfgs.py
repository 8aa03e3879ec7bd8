"""How does L-BFGS minimize a function?

Mirrors: torch/optim/lbfgs.py
Differs: the line search is in `line_search.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import enable_grad, no_grad
from glasstorch.core.layout import contiguous_format
from glasstorch.operators.generated import functions as f
from glasstorch.optim.forms import _to_scalar, in_reals
from glasstorch.optim.line_search import strong_wolfe
from glasstorch.optim.optimizer import Optimizer, ParamsT
from glasstorch.optim.options import check_lr


class LBFGS(Optimizer):
    """Newton steps with an approximation of the inverse Hessian made of the last changes of parameters and gradients.

    `step` needs a closure and calls it several times: up to `max_iter` iterations and `max_eval` evaluations. It stops
    earlier where the gradient or the change is within the tolerances. `line_search_fn` is None or "strong_wolfe".
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimize; the result is the loss before the first iteration."""
        assert len(self.param_groups) == 1
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        closure = enable_grad()(closure)
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        state["func_evals"] += 1
        grad = self._gather_flat_grad()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first
        self._minimize(closure, group, state, float(first), grad)
        return first

    def _minimize(
        self, closure: Callable[[], Any], group: dict[str, Any], state: dict[str, Any], loss: float, grad: Tensor
    ) -> None:
        """Iterations, until one of the limits is reached."""
        lr, change = _to_scalar(group["lr"]), group["tolerance_change"]
        evaluations = 1
        is_first = "d" not in state
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            direction = state["d"] = _direction(state, grad, group["history_size"])
            state["prev_flat_grad"] = grad.clone(memory_format=contiguous_format)
            state["prev_loss"] = loss
            # The first direction is the gradient itself, whose size says nothing of a step's.
            size = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            state["t"] = size
            slope = grad.dot(direction)
            if slope > -change:
                break
            calls = 0
            if group["line_search_fn"] is not None:
                loss, grad, size, calls = self._search(
                    closure, size, direction, loss, grad, slope, group["max_eval"] - evaluations
                )
                state["t"] = size
                self._add_grad(size, direction)
            else:
                self._add_grad(size, direction)
                if iteration != group["max_iter"]:
                    loss = float(closure())
                    grad = self._gather_flat_grad()
                    calls = 1
            evaluations += calls
            state["func_evals"] += calls
            if (
                evaluations >= group["max_eval"]
                or grad.abs().max() <= group["tolerance_grad"]
                or direction.mul(size).abs().max() <= change
                or abs(loss - state["prev_loss"]) < change
            ):
                break
        if is_first:  # the order of the keys is PyTorch's, which writes these last
            for name in ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss"):
                state[name] = state.pop(name)

    # ---- all parameters as one vector ------------------------------------------------------------------------

    def _gather_flat_grad(self) -> Tensor:
        """The gradients of all parameters, in one vector of real numbers; zeros where there is none."""
        grads = (f.zeros_like(p) if p.grad is None else p.grad for p in self._params)
        return f.cat([in_reals(grad)[0].reshape(-1) for grad in grads])

    def _add_grad(self, step_size: Any, update: Tensor) -> None:
        """Move the parameters along a vector."""
        offset = 0
        for parameter in self._params:
            (real,) = in_reals(parameter)
            part = update[offset : offset + real.numel()]
            real.add_(part.view_as(real), alpha=step_size)
            offset += real.numel()

    def _search(
        self,
        closure: Callable[[], Any],
        size: Any,
        direction: Tensor,
        loss: float,
        grad: Tensor,
        slope: Tensor,
        max_evaluations: int,
    ) -> tuple[float, Tensor, Any, int]:
        """A step size by line search from where the parameters are; they stay there."""
        start = [parameter.clone(memory_format=contiguous_format) for parameter in self._params]

        def evaluated(size: Any) -> tuple[float, Tensor]:
            self._add_grad(size, direction)
            found = float(closure()), self._gather_flat_grad()
            for parameter, before in zip(self._params, start, strict=True):
                parameter.copy_(before)
            return found

        return strong_wolfe(evaluated, size, direction, loss, grad, slope, max_ls=max_evaluations)


def _direction(state: dict[str, Any], grad: Tensor, history_size: int) -> Tensor:
    """Minus the gradient, times the approximation of the inverse Hessian: the two loops over the history."""
    if state["n_iter"] == 1:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return grad.neg()
    difference = grad.sub(state["prev_flat_grad"])
    moved = state["d"].mul(state["t"])
    curvature = difference.dot(moved)
    directions, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
    if curvature > 1e-10:
        if len(directions) == history_size:
            for history in (directions, steps, inverses):
                history.pop(0)
        directions.append(difference)
        steps.append(moved)
        inverses.append(1.0 / curvature)
        state["H_diag"] = curvature / difference.dot(difference)
    weights = state.setdefault("al", [None] * history_size)
    result = grad.neg()
    for i in reversed(range(len(directions))):
        weights[i] = steps[i].dot(result) * inverses[i]
        result.add_(directions[i], alpha=-weights[i])
    result = result.mul(state["H_diag"])
    for i in range(len(directions)):
        result.add_(steps[i], alpha=weights[i] - directions[i].dot(result) * inverses[i])
    return result
