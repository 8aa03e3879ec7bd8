"""How is a fusion group's subgraph lowered to a program, for inputs of given dtypes, sizes and strides?

Mirrors: torch/csrc/jit/tensorexpr/kernel.cpp (TensorExprKernel::compile, computeValue)
Differs: the operators' shape functions compute the sizes and strides of all values, again for each set of inputs;
    PyTorch compiles for symbolic sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor, make
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.geometry import Shape
from glasstorch.core.storage import Storage
from glasstorch.jit.codegen.formulas import COMPOSITES, LOWERINGS
from glasstorch.jit.codegen.program import Argument, Program, Steps
from glasstorch.jit.ir import Graph, Node, Value
from glasstorch.jit.types import as_argument
from glasstorch.kernels.structured import shape_function
from glasstorch.operators.shapes.result import Result

NO_ELEMENTS = Storage.allocate(0, device("meta"))


def facts(shape: Shape, strides: Shape | None, of: dtype) -> Tensor:
    """A meta tensor with these facts. Strides of None are row-major."""
    return make(NO_ELEMENTS, of, shape, strides, 0)


def lower(subgraph: Graph, inputs: Sequence[Tensor]) -> Program:
    """The program of a group for inputs like these.

    UnfusableError if no loop can be generated; inputs that an operator refuses raise the error of eager mode.
    """
    known = {
        value: Argument(i, facts(tensor._shape, tensor._strides, tensor.dtype))
        for i, (value, tensor) in enumerate(zip(subgraph.inputs, inputs, strict=True))
    }
    steps = Steps(inputs)
    results: dict[Value, Result] = {}
    for node in subgraph.nodes:
        if node.kind != "prim::Constant":
            slot, result = _operator(steps, node, known)
            results[node.output] = result
            known[node.output] = Argument(slot, facts(result.shape, result.strides, result.dtype))
    outputs = [known[value].slot for value in subgraph.outputs]
    return steps.program(outputs, [results[value] for value in subgraph.outputs])


def _operator(steps: Steps, node: Node, known: dict[Value, Argument]) -> tuple[int, Result]:
    operator = node.operator()
    name = operator.name.removeprefix("aten::")
    arguments: list[Any] = []
    for declared, value in zip(operator.schema.arguments, node.inputs, strict=True):
        if value in known:
            arguments.append(known[value])
        elif isinstance(held := value.constant(), Tensor):
            arguments.append(Argument(-1, held))
        else:
            arguments.append(as_argument(declared.type, held))
    if name in COMPOSITES:
        name, rearranged = COMPOSITES[name]
        arguments = list(rearranged(*arguments))
    result = shape_function(name)(*(a.facts if isinstance(a, Argument) else a for a in arguments))
    slot = LOWERINGS[name](steps, *arguments)
    found = steps.shapes[slot], steps.dtypes[slot]
    assert found == (result.shape, result.dtype), f"{name} gives {result}, its steps give {found}"
    return slot, result
