"""Which operators have no implemented derivative?

Mirrors: torch/csrc/autograd/functions/basic_ops.h (NotImplemented), which the kernels of
    tools/autograd/gen_variable_type.py record for operators without a row in derivatives.yaml
Differs: only for operators whose row in derivatives.yaml says `not_implemented`. The results of operators without a row
    carry no gradient.
"""

from __future__ import annotations

from typing import Any

from glasstorch.autograd.history import (
    check_inplace,
    gradient_edge,
    rebase_history,
    requires_grad,
    set_histories,
    set_history,
)
from glasstorch.autograd.hooks import Gradients
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Edge, Node
from glasstorch.core.errors import AutogradError
from glasstorch.core.keys import BELOW_AUTOGRAD
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated.registry import OPERATORS, table

AUTOGRAD = KernelTable("Autograd")


class NotImplementedNode(Node):
    """A node that raises an error when it runs."""

    def __init__(self, operator: str, edges: list[Edge | None]) -> None:
        super().__init__(edges)
        self.operator = operator

    def apply(self, grads: Gradients) -> Gradients:
        raise AutogradError(f"derivative for aten::{self.operator} is not implemented")

    def name(self) -> str:
        return "torch::autograd::NotImplemented"


class SecondDerivativeNode(NotImplementedNode):
    """The node of a backward operator whose own derivative PyTorch does not implement either."""

    def apply(self, grads: Gradients) -> Gradients:
        raise NotImplementedError(f"the derivative for '{self.operator}' is not implemented.")

    def name(self) -> str:
        return self.operator.title().replace("_", "") + "Backward0"


def register(name: str, made: type[NotImplementedNode]) -> None:
    """Register a kernel that runs the operator and, if a gradient is needed, records a node that raises an error."""
    below_autograd = table(name)
    operator = name.partition(".")[0]
    written = 0 if operator.endswith("_") else -1 if name.endswith("out") else None  # the argument written to

    def kernel(keys: int, *arguments: Any) -> Any:
        below = keys & BELOW_AUTOGRAD
        listed = (value if isinstance(value, list | tuple) else (value,) for value in arguments)
        tensors = [value for values in listed for value in values if isinstance(value, TensorImpl)]
        if not grad_mode.get() or not any(map(requires_grad, tensors)):
            return below_autograd[below](below, *arguments)
        if written is not None:
            check_inplace(arguments[written])
        node = made(operator, [gradient_edge(tensor) for tensor in tensors])  # type: ignore[arg-type]
        result = below_autograd[below](below, *arguments)
        if isinstance(result, tuple):
            set_histories(result, node)
        else:
            (set_history if written is None else rebase_history)(result, node)
        return result

    AUTOGRAD.add(name, kernel)


NODES = {"derivative": NotImplementedNode, "second derivative": SecondDerivativeNode}
for _row in OPERATORS:
    if _row.not_implemented is not None:
        register(_row.name, NODES[_row.not_implemented])
