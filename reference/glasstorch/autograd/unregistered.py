"""What does autograd do for an operator that has no kernel for it, as a user's may have none?

Mirrors: torch/csrc/autograd/autograd_not_implemented_fallback.cpp (basicAutogradNotImplementedFallbackImpl)
Differs: nested tensors pass it by.

The operator runs below autograd. Where its kernel is composed of other operators, these are recorded, and a hook on the
result warns when a gradient passes; any other result gets a node that warns, and passes on no gradient.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.autograd.history import gradient_edge, requires_grad, set_histories, set_history
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Edge, Node
from glasstorch.autograd.tensor_hooks import register_hook
from glasstorch.core.dtype import FLOATING
from glasstorch.core.keys import BELOW_AUTOGRAD, DispatchKey
from glasstorch.core.user_line import warn_user
from glasstorch.dispatch.fallback import WITHOUT_FALLBACK
from glasstorch.dispatch.library import caller
from glasstorch.dispatch.operator import Kernel, Operator, registry, tensors_of
from glasstorch.dispatch.resolve import AUTOGRAD_KEYS

MODES: Final = ("nothing", "warn")


class _Mode:
    """The mode of the process, as in PyTorch."""

    now = "warn"


def set_mode(mode: str) -> None:
    """What becomes of a gradient that passes an operator without an autograd kernel: "nothing", or "warn"."""
    if mode == "error":
        raise RuntimeError("NYI: mode='error'")
    if mode not in MODES:
        raise RuntimeError(f"Unsupported AutogradFallbackMode: {mode}; expected one of {', '.join(MODES)}")
    _Mode.now = mode


def mode() -> str:
    """The mode that was set last."""
    return _Mode.now


def _warn(name: str) -> None:
    warn_user(
        f"{name}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop through "
        f"it. This may lead to silently incorrect behavior. Register one with torch.library.register_autograd if the "
        f"operator is differentiable; if it is not, register torch.library.fallthrough_kernel for Autograd."
    )


class WarnNotImplemented(Node):
    """A node that warns when it runs, and passes on no gradient."""

    def __init__(self, operator: str, edges: list[Edge | None]) -> None:
        super().__init__(edges)
        self.operator = operator

    def apply(self, grads: Gradients) -> Gradients:
        _warn(self.operator)
        return [None] * len(self.next_edges)

    def name(self) -> str:
        return "torch::autograd::WarnNotImplemented"


def unregistered(operator: Operator, keys: int, *arguments: Any) -> Any:
    """The fallback of the autograd keys."""
    below = keys & BELOW_AUTOGRAD
    tensors = list(tensors_of(arguments))
    for tensor in tensors:
        if tensor._autograd_meta is not None and requires_grad(tensor):
            break
    else:
        return operator.table[below](below, *arguments)
    if not grad_mode.get() or _Mode.now == "nothing":
        return operator.table[below](below, *arguments)
    name = operator.name.partition(".")[0]
    node = WarnNotImplemented(name, [gradient_edge(tensor) for tensor in tensors])  # type: ignore[arg-type]
    result = operator.table[below](below, *arguments)
    fresh: list[Any] = []
    for place, output in enumerate(result if isinstance(result, tuple) else (result,)):
        written = place < len(operator.schema.returns) and operator.schema.returns[place].type.is_write
        for tensor in tensors_of([output]):
            if tensor.dtype.category < FLOATING:
                continue
            if requires_grad(tensor):
                register_hook(tensor, lambda grad: _warn(name))  # type: ignore[arg-type]
            elif not written:
                fresh.append(tensor)
    if len(fresh) == 1:
        set_history(fresh[0], node)
    elif fresh:
        set_histories(fresh, node)
    return result


def register_fallback() -> None:
    """Let it stand at the autograd keys, where nothing stands that an operator has registered."""
    where = caller(0)
    for key in AUTOGRAD_KEYS - WITHOUT_FALLBACK - {DispatchKey.AutogradNestedTensor}:
        registry.fallbacks[key] = Kernel(unregistered, key, where, takes_keys=True, calls_operators=False)
    registry.changed()
