"""Which operators have an autograd kernel that records nothing?

Mirrors: tools/autograd/gen_variable_type.py (a kernel for every operator that is not CompositeImplicitAutograd, also
    where no result carries a gradient)
Differs: one function stands for all of them. The results of operators without a row in derivatives.yaml carry no
    gradient; PyTorch records a node that raises an error when it runs.
"""

from __future__ import annotations

from typing import Any, Final

from glasstorch.autograd.records_parts import PARTS_RECORDED as OF_PARTS
from glasstorch.core.keys import BELOW_AUTOGRAD, DispatchKey
from glasstorch.dispatch.library import place
from glasstorch.dispatch.operator import Kernel, Operator, registry
from glasstorch.dispatch.tags import Tag
from glasstorch.operators.generated.registry import OPERATORS
from glasstorch.operators.operator_row import PARTS_RECORDED


def records_nothing(operator: Operator, keys: int, *arguments: Any) -> Any:
    """Call the kernel below autograd."""
    below = keys & BELOW_AUTOGRAD
    return operator.table[below](below, *arguments)


# One kernel for all, so that the registrations cost no time at the import.
_CODE = records_nothing.__code__
_WHERE = place(_CODE.co_filename, _CODE.co_firstlineno)
NOTHING_RECORDED: Final = Kernel(records_nothing, DispatchKey.Autograd, _WHERE, True, calls_operators=False, boxed=True)


def has_gradient(operator: Operator) -> bool:
    """Whether an autograd kernel of the operator's own may record its calls."""
    kernels = operator.kernels.get(DispatchKey.Autograd)
    return bool(kernels and kernels[-1] is not NOTHING_RECORDED)


def register_rest() -> None:
    """Register the kernel for every operator that has none for autograd, and is not made of operators that have.

    That of an operator whose parts are recorded (records_parts.py) is one for all, too.

    Kernels and formulas must be registered before.
    """
    of_parts, generated = DispatchKey.CompositeImplicitAutograd, Tag.generated.name
    kernels_of = {(name := row.name): (row, registry.operators["aten::" + name].kernels) for row in OPERATORS}
    composites = {name for name, (_, kernels) in kernels_of.items() if of_parts in kernels}
    for name, (row, kernels) in kernels_of.items():
        if name in composites or (row.functional in composites and generated in row.tags):
            continue  # PyTorch has no kernel either for the out= form that it generates for a composite
        if DispatchKey.Autograd not in kernels:
            records_parts = row.composite is not None and row.composite[0] == PARTS_RECORDED
            kernels[DispatchKey.Autograd] = [OF_PARTS if records_parts else NOTHING_RECORDED]
    registry.changed()
