"""How does a graph compute with the sizes of its inputs?

Mirrors: torch/csrc/jit/runtime/register_prim_ops.cpp, register_prim_ops_fulljit.cpp (aten::size.int, aten::Int.Tensor,
    aten::Float.Tensor, prim::NumToTensor.Scalar)
Differs: our tracer records sizes as constants. These operations come from PyTorch's archives, whose tracer records
    where a size was read. They have no schema, and no pass changes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bool_, float64, int64
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.jit.interpreter import Operation, register_operation
from glasstorch.jit.ir import Node
from glasstorch.jit.types import BOOL, FLOAT, INT, NUMBER, TENSOR, ListType, Type
from glasstorch.operators.generated import functions as operators


def _size(tensor: Tensor, *dim: int) -> Any:
    return tensor.size(*dim) if dim else list(tensor.shape)


def tensor_of(number: float) -> Tensor:
    """A number as a tensor without dimensions: int64, float64 or bool."""
    return operators.scalar_tensor(number, dtype=_dtype_of(number))


def _dtype_of(number: float) -> Dtype:
    return bool_ if isinstance(number, bool) else int64 if isinstance(number, int) else float64


# Kind -> what runs it, and by the number of inputs: their types, and that of the output.
OPERATIONS: Final[dict[str, tuple[Callable[..., Any], dict[int, tuple[tuple[Type, ...], Type]]]]] = {
    "aten::size": (_size, {1: ((TENSOR,), ListType(INT)), 2: ((TENSOR, INT), INT)}),
    "aten::Int": (lambda tensor: int(tensor.item()), {1: ((TENSOR,), INT)}),
    "aten::Float": (lambda tensor: float(tensor.item()), {1: ((TENSOR,), FLOAT)}),
    "aten::Bool": (lambda tensor: bool(tensor.item()), {1: ((TENSOR,), BOOL)}),
    "aten::__getitem__": (lambda numbers, at: numbers[at], {2: ((ListType(INT), INT), INT)}),
    "prim::NumToTensor": (tensor_of, {1: ((NUMBER,), TENSOR)}),
}

CASTS: Final = {"aten::Int": "int", "aten::Float": "float", "aten::Bool": "bool"}  # as source text writes them


def result_type(kind: str, inputs: Sequence[Type]) -> Type | None:
    """The type of what an operation gives for inputs of these types; None if it is not defined for them."""
    if kind not in OPERATIONS:
        return None
    taken, given = OPERATIONS[kind][1].get(len(inputs), ((), None))
    return given if all(type.is_subtype_of(asked) for type, asked in zip(inputs, taken, strict=False)) else None


def _maker(run: Callable[..., Any]) -> Callable[[Node], Operation]:
    return lambda node: lambda *inputs: (run(*inputs),)


for _kind, (_run, _) in OPERATIONS.items():
    register_operation(_kind, _maker(_run))
