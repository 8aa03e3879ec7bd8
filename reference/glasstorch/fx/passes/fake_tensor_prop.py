"""Which fake tensor stands for each node's result?

Mirrors: torch/fx/passes/fake_tensor_prop.py
Differs: sizes are numbers: a symbol that a node gives is not noted.
"""

from __future__ import annotations

from typing import Any

from glasstorch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from glasstorch._tensor import Tensor
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.interpreter import Interpreter
from glasstorch.fx.node import Node, map_aggregate

__all__ = ["FakeTensorProp"]


class FakeTensorProp(Interpreter):
    """Runs a module on fake tensors, and notes each node's result in its `meta["val"]`. Nothing is computed.

    Against `ShapeProp`, this costs no arithmetic, and a note tells more: which results share storage, for one. Numbers
    are noted as they are, and None for what is neither a number nor a tensor.
    """

    def __init__(self, module: GraphModule, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module)
        self._mode = FakeTensorMode() if mode is None else mode

    def run_node(self, n: Node) -> Any:
        """What the node gives, after a snapshot of it has been noted: later nodes may change it in place."""
        result = super().run_node(n)

        def noted(value: Any) -> Any:
            if isinstance(value, FakeTensor):
                return value.detach()
            if isinstance(value, Tensor):  # a parameter, say
                return self._mode.from_tensor(value).detach()
            return value if isinstance(value, int | float) else None

        note = map_aggregate(result, noted)
        if note is not None:
            n.meta["val"] = note
        return result

    def propagate(self, *args: object) -> Any:
        """The module's result, a fake tensor, for examples, which become fake tensors."""
        fakes = [self._mode.from_tensor(arg) if isinstance(arg, Tensor) else arg for arg in args]
        return self.propagate_dont_convert_inputs(*fakes)

    def propagate_dont_convert_inputs(self, *args: object) -> Any:
        """`propagate` for arguments that are fake tensors already."""
        with self._mode:
            return super().run(*args)
