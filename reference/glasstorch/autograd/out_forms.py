"""What does autograd do with a tensor that is given as out=?

Mirrors: throw_error_out_requires_grad in torch/csrc/autograd/VariableTypeUtils.h, called by the kernels of out= forms
Differs: one function for all of them.
"""

from __future__ import annotations

from typing import Any

from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import requires_grad
from glasstorch.core.keys import BELOW_AUTOGRAD
from glasstorch.dispatch.library import KernelTable
from glasstorch.dispatch.operator import tensors_of
from glasstorch.kernels.out.copied import no_gradient
from glasstorch.operators.generated.registry import table

AUTOGRAD = KernelTable("Autograd")


def register_out_forms(names: tuple[str, ...]) -> None:
    """Register, for the out= forms of differentiable operators, a kernel that records nothing and says so."""
    for name in names:
        AUTOGRAD.add(name, _without_gradient(name))


def _without_gradient(name: str) -> Any:
    below_autograd = table(name)

    def out_form(keys: int, *arguments: Any) -> Any:
        if grad_mode.get() and any(map(requires_grad, tensors_of(arguments))):
            raise no_gradient(name)
        below = keys & BELOW_AUTOGRAD
        return below_autograd[below](below, *arguments)

    return out_form
