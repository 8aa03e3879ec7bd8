"""What does autograd do with a tensor that is given as out=?

Mirrors: throw_error_out_requires_grad in torch/csrc/autograd/VariableTypeUtils.h, called by the kernels of out= forms
Differs: one function for all of them.
"""

from __future__ import annotations

from typing import Any

from glasstorch.autograd.history import requires_grad
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.errors import no_gradient
from glasstorch.core.keys import BELOW_AUTOGRAD, DispatchKey
from glasstorch.dispatch.library import KernelTable
from glasstorch.dispatch.operator import registry, tensors_of
from glasstorch.operators.generated.registry import OPERATORS, table

AUTOGRAD = KernelTable("Autograd")


def register_out_forms() -> None:
    """Register, for the out= forms of operators that have an autograd kernel, one that records nothing and says so."""
    for row in OPERATORS:
        if row.functional is None or not registry.find(f"aten::{row.functional}").has_kernel_for(DispatchKey.Autograd):
            continue
        name = row.name
        if name.partition(".")[0] == row.functional.partition(".")[0]:  # else it is the in-place form
            AUTOGRAD.add(name, _without_gradient(name))


def _without_gradient(name: str) -> Any:
    below_autograd = table(name)

    def out_form(keys: int, *arguments: Any) -> Any:
        if grad_mode.get() and any(map(requires_grad, tensors_of(arguments))):
            raise no_gradient(name)
        below = keys & BELOW_AUTOGRAD
        return below_autograd[below](below, *arguments)

    return out_form
