"""How does autograd record an operator that modes and backends see as one, and whose gradient is that of its parts?

Mirrors: the kernels of `_foreach_*` in torch/csrc/autograd/generated/VariableType_*.cpp
Differs: one function stands for all of them. It calls the operators of which the kernel for all backends is made, and
    these record themselves; PyTorch's write out the derivative of each, and record the same nodes.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.autograd.history import requires_grad
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.keys import BELOW_AUTOGRAD, DUAL, DispatchKey
from glasstorch.dispatch.library import place
from glasstorch.dispatch.operator import Kernel, Operator, tensors_of
from glasstorch.dispatch.resolve import MATH_KERNEL, Choice, entry_for


def records_parts(operator: Operator, keys: int, *arguments: Any) -> Any:
    """Call the parts if a gradient is to be recorded or a tangent to be followed, else the kernel below."""
    if keys & DUAL or (
        grad_mode.get() and any(t._autograd_meta is not None and requires_grad(t) for t in tensors_of(arguments))
    ):
        parts = operator.kernels[DispatchKey.CompositeExplicitAutograd][-1]
        return entry_for(operator, Choice(DispatchKey.AutogradCPU, parts, MATH_KERNEL), keys)(keys, *arguments)
    below = keys & BELOW_AUTOGRAD
    return operator.table[below](below, *arguments)


_CODE = records_parts.__code__
_WHERE = place(_CODE.co_filename, _CODE.co_firstlineno)
PARTS_RECORDED: Final = Kernel(records_parts, DispatchKey.Autograd, _WHERE, True, calls_operators=False, boxed=True)
