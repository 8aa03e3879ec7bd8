"""What does an operator along some dimensions do to a batch?

Mirrors: aten/src/ATen/functorch/BatchRulesReduceOps.cpp, BatchRulesViews.cpp, BatchRulesFactory.cpp
"""

from __future__ import annotations

import math
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.layout import contiguous_format
from glasstorch.dispatch.operator import Operator, tensors_of
from glasstorch.func.batching import Batch
from glasstorch.func.layers import call, map_result, map_tensors
from glasstorch.func.wrapped import wrapping_by
from glasstorch.operators.generated import functions as f

DIMS = frozenset(("dim", "dims", "dim0", "dim1", "dim2", "dimension", "axis0", "axis1", "start_dim", "end_dim"))


def leading(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """An operator that takes any number of dimensions in front."""
    batch.check_writable(operator, arguments)
    several = sum(1 for _ in tensors_of(arguments)) > 1
    return batch.finished(operator, arguments, call(operator, batch.fronts(arguments, several)))


def along(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """An operator along some dimensions, which are counted one further. A number counts as a vector of one element."""
    batch.check_writable(operator, arguments)
    tensors = list(tensors_of(arguments))
    if any(
        a.name == "dim" and not a.type.is_list and v is None
        for a, v in zip(operator.schema.arguments, arguments, strict=True)
    ):
        return place_of_all(batch, operator, arguments)
    values = batch.fronts(arguments, everything=len(tensors) > 1)
    scalars = not tensors[0].ndim
    if scalars:
        values = map_tensors(lambda tensor: tensor.unsqueeze(-1) if tensor._number is None else tensor, values)
    shift(operator, values, max(tensor.ndim for tensor in tensors))
    result = call(operator, values)
    if scalars:
        result = map_result(lambda tensor: tensor.squeeze(1) if tensor.ndim == 2 else tensor, result)
    return batch.finished(operator, arguments, result)


def grown(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """As `along`, where the dimension is one of the result's, which has one more."""
    batch.check_writable(operator, arguments)
    tensors = list(tensors_of(arguments))
    values = batch.fronts(arguments, everything=len(tensors) > 1)
    shift(operator, values, tensors[0].ndim + 1)
    return batch.finished(operator, arguments, call(operator, values))


def view_backward(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The gradient of a view, which is told the sizes of what was viewed, and the dimension there."""
    grad, sizes, dim, *more = arguments
    value, _ = batch.in_front(grad)
    return batch.around(call(operator, [value, [batch.size, *sizes], further(dim, len(sizes)), *more]))


def shift(operator: Operator, values: list[Any], rank: int) -> None:
    """Make the dimensions among the arguments those of the batch."""
    for place, argument in enumerate(operator.schema.arguments):
        if argument.name in DIMS and argument.type.base in ("int", "SymInt"):
            values[place] = further(values[place], rank)


def further(dims: Any, rank: int) -> Any:
    """Dimensions of an example as those of the batch; all of them, where none are named."""
    if isinstance(dims, int):
        return wrapped(dims, rank) + 1
    return [wrapped(dim, rank) + 1 for dim in dims] if dims else list(range(1, max(rank, 1) + 1))


def wrapped(dim: int, rank: int) -> int:
    """A dimension counted from 0; IndexError for one that an example has not."""
    most = max(rank, 1)
    if not -most <= dim < most:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})")
    return dim % most


def sized(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """An operator that is told all sizes of its result: the batch's comes first."""
    value, _ = batch.in_front(arguments[0])
    rest = list(arguments[1:])
    names = [argument.name for argument in operator.schema.arguments[1:]]
    place = next(i for i, name in enumerate(names) if name in ("size", "shape", "repeats"))
    sizes = list(rest[place])
    rank = arguments[0].ndim
    if names[place] == "repeats":
        value = value.reshape((batch.size, *[1] * (len(sizes) - rank), *value._shape[1:]))
        rest[place] = [1, *sizes]
    else:
        if operator.name in ("aten::expand", "aten::expand_copy"):
            value = value.view((batch.size, *[1] * (len(sizes) - rank), *value._shape[1:]))
            sizes = [size if size >= 0 else value._shape[1 + i] for i, size in enumerate(sizes)]
        elif -1 in sizes:
            known = -math.prod(sizes)
            sizes[sizes.index(-1)] = arguments[0].numel() // known if known else 0
        rest[place] = [batch.size, *sizes]
    return batch.around(call(operator, [value, *rest]))


def resized(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Other sizes, in place: those elements of the batch that come first are kept, as of one tensor."""
    tensor, sizes, memory_format = arguments
    if memory_format not in (None, contiguous_format):
        raise RuntimeError("resize_: batching rule only supports None or Contiguous MemoryFormat")
    inside = wrapping_by(batch, tensor)
    assert inside is not None, "it is the only tensor"
    if inside.bdim:
        raise RuntimeError("resize_: the examples lie along another dimension than the first, which is not supported")
    call(operator, [inside.value, [batch.size, *sizes], memory_format])
    return batch.finished(operator, arguments, None)


def reshaped(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """`_reshape_alias`: a view, whose strides follow from the sizes and from how the batch lies in memory."""
    value, _ = batch.in_front(arguments[0])
    return batch.around(value.reshape((batch.size, *arguments[1])))


def of_all(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """A reduction of all elements: over all dimensions but the batch's."""
    more = {a.name: value for a, value in zip(operator.schema.arguments[1:], arguments[1:], strict=True)}
    return batch.around(getattr(f, operator.schema.name)(_flat(batch, arguments[0]), 1, **more))


def largest_of_all(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """An extremum of all elements: `amax` for `max`, whose gradient goes to equal ones in equal parts as well."""
    return batch.around(getattr(f, f"a{operator.schema.name}")(_flat(batch, arguments[0]), [1]))


def middle_of_all(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """A median of all elements: of a dimension, it comes with its position."""
    return batch.around(getattr(f, operator.schema.name)(_flat(batch, arguments[0]), 1)[0])


def place_of_all(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """An extremum among all elements, or its position, where the operator is told no dimension."""
    tensor, _, keepdim = arguments
    shape = (batch.size, *[1] * tensor.ndim) if keepdim else (batch.size,)
    result = call(operator, [_flat(batch, tensor), 1, False])
    return batch.around(map_result(lambda one: one.reshape(shape), result))


def _flat(batch: Batch, tensor: Any) -> Tensor:
    return batch.in_front(tensor)[0].reshape((batch.size, -1))


def t(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Of a matrix the transpose, of a vector itself."""
    value, _ = batch.in_front(arguments[0])
    return batch.around(value.transpose(1, 2) if value.ndim == 3 else value.view_as(value))


def squeeze(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """All dimensions of size 1, but not the batch's."""
    value, _ = batch.in_front(arguments[0])
    ones = [i for i, size in enumerate(value._shape) if i and size == 1]
    return batch.around(value.squeeze(ones) if ones else value.view_as(value))


def permute(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """All dimensions in another order, behind the batch's."""
    value, _ = batch.in_front(arguments[0])
    dims = [wrapped(dim, arguments[0].ndim) + 1 for dim in arguments[1]]
    return batch.around(call(operator, [value, [0, *dims]]))
