"""What does an operator that works element by element do to a batch?

Mirrors: aten/src/ATen/functorch/BatchRulesUnaryOps.cpp, BatchRulesBinaryOps.cpp
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.operator import Operator, tensors_of
from glasstorch.func.batching import Batch
from glasstorch.func.batching import one_by_one as one_by_one
from glasstorch.func.layers import call, map_tensors


def aligned(batch: Batch, arguments: Sequence[Any]) -> list[Any]:
    """The arguments with the batch in front, and ones behind it where an example has fewer dimensions than another."""
    rank = max(tensor.ndim for tensor in tensors_of(arguments))

    def one(tensor: Tensor) -> Tensor:
        value, is_batched = batch.in_front(tensor)
        if not is_batched or tensor.ndim == rank:
            return value
        return value.reshape((batch.size, *[1] * (rank - tensor.ndim), *value._shape[1:]))

    return map_tensors(one, arguments)


def pointwise(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """An operator that works element by element, and broadcasts its arguments."""
    batch.check_writable(operator, arguments)
    return broadcasting(batch, operator, arguments)


def broadcasting(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The same; in place, the operator itself refuses a tensor that all examples share, as too small."""
    result = call(operator, aligned(batch, arguments))
    return arguments[0] if operator.schema.is_inplace else batch.around(result)
