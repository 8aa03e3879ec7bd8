"""What do operators that take positions do to a batch?

Mirrors: aten/src/ATen/functorch/BatchRulesScatterOps.cpp, BatchRulesModules.cpp (embedding)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import bool_
from glasstorch.dispatch.operator import Operator, tensors_of
from glasstorch.func.batching import Batch, incompatible, one_by_one
from glasstorch.func.layers import call, map_tensors
from glasstorch.func.rules.dims import further, wrapped
from glasstorch.func.wrapped import wrapping_by
from glasstorch.operators.generated import functions as f

NO_MASK = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with "
    "a boolean mask."
)


def index_select(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The same elements of each example, or others, gathered."""
    (value, has_value), (index, has_index) = batch.in_front(arguments[0]), batch.in_front(arguments[2])
    dim = wrapped(arguments[1], arguments[0].ndim)
    if not has_index:
        if value.ndim == 1:
            return batch.around(f.index_select(value.unsqueeze(1), 1, index).squeeze(1))
        return batch.around(f.index_select(value, dim + 1, index))
    if not has_value:
        value = value.expand((batch.size, *value._shape))
    if value.ndim == 1:
        return batch.around(value.unsqueeze(1).gather(1, index.reshape((batch.size, -1))).reshape((batch.size,)))
    index = index.reshape((batch.size, *[1] * dim, -1, *[1] * (value.ndim - 2 - dim)))
    shape = list(value._shape)
    shape[dim + 1] = index._shape[dim + 1]
    return batch.around(f.gather(value, dim + 1, index.expand(shape)))


def scattered(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Elements from, or to, given positions along a dimension. A number counts as a vector of one element."""
    batch.check_writable(operator, arguments)
    tensors = list(tensors_of(arguments))
    values = batch.fronts(arguments, everything=True)
    values = map_tensors(lambda tensor: tensor.unsqueeze(-1) if tensor.ndim == 1 else tensor, values)
    values[1] = further(arguments[1], tensors[0].ndim)
    result = call(operator, values)
    scalar = not (tensors[0] if operator.schema.arguments[0].name != "self" or len(tensors) > 2 else tensors[1]).ndim
    return batch.finished(operator, arguments, result.squeeze(1) if scalar else result)


def gathered(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The elements at given positions along a dimension."""
    value, index = batch.expanded(arguments[0]), batch.expanded(arguments[2])
    if not arguments[0].ndim:
        value = value.unsqueeze(-1)
    scalar = not arguments[2].ndim
    dim = further(arguments[1], arguments[0].ndim)
    result = call(operator, [value, dim, index.unsqueeze(-1) if scalar else index, *arguments[3:]])
    return batch.around(result.squeeze(1) if scalar else result)


def searched(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Where numbers are to be inserted into a sorted row, or each row of numbers into a sorted row of its own."""
    named = {argument.name: value for argument, value in zip(operator.schema.arguments, arguments, strict=True)}
    numbers, rows = named.pop("self"), named.pop("sorted_sequence" if "sorter" in named else "boundaries")
    sorter = named.get("sorter")
    if rows.ndim == 1 and not any(batch.in_front(one)[1] for one in (rows, sorter)):
        return batch.around(call(operator, batch.fronts(arguments, everything=False)))
    if sorter is not None:
        named["sorter"] = batch.expanded(sorter)
    values = batch.expanded(numbers)
    if rows.ndim == 1:
        values = values.reshape((batch.size, numbers.numel()))
    found = f.searchsorted(batch.expanded(rows), values, **named)
    return batch.around(found.reshape((batch.size, *numbers._shape)))


class Indices:
    """The indices of a call, and where in its result the dimensions that they select by stand."""

    def __init__(self, batch: Batch, indices: Sequence[Any]) -> None:
        self.batch = batch
        self.given: list[Any] = []
        for index in indices:
            if index is None or index.dtype is not bool_:
                self.given.append(index)
            elif wrapping_by(batch, index) is not None:
                raise RuntimeError(NO_MASK)
            else:
                self.given += index.nonzero().unbind(1)
        places = [place for place, index in enumerate(self.given) if index is not None]
        self.rank = max(self.given[place].ndim for place in places)
        self.adjacent = places == list(range(places[0], places[-1] + 1))
        self.start = places[0] if self.adjacent else 0
        self.batched = any(wrapping_by(batch, index) is not None for index in indices if index is not None)

    def values(self) -> list[Any]:
        """The indices with the batch in front, and ones behind it where they have fewer dimensions than another."""
        return [None if index is None else self._value(index) for index in self.given]

    def _value(self, index: Any) -> Tensor:
        value, is_batched = self.batch.in_front(index)
        if not is_batched:
            return value
        return value.reshape((self.batch.size, *[1] * (self.rank - index.ndim), *value._shape[1:]))

    def with_examples(self) -> list[Any]:
        """The indices behind one that selects the example."""
        numbers = f.arange(self.batch.size, device=next(i for i in self.given if i is not None).device)
        return [numbers.reshape((-1, *[1] * self.rank)), *self.values()]


def index(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The elements at given positions."""
    value, has_value = batch.in_front(arguments[0])
    indices = Indices(batch, arguments[1])
    if not has_value:
        return batch.around(call(operator, [value, indices.values()]), indices.start)
    if not indices.batched:
        result = call(operator, [value, [None, *indices.values()]])
        return batch.around(result, 0 if indices.adjacent else indices.rank)
    result = call(operator, [value, indices.with_examples()])
    return batch.around(_moved(result, 1, 1 + indices.start, indices.rank))


def index_put(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Other elements at given positions."""
    if operator.schema.is_inplace:
        if wrapping_by(batch, arguments[0]) is None:
            raise incompatible(operator.schema.name)
        batch.check_writable(operator, arguments)
        value, _ = batch.in_front(arguments[0])
    else:
        value = batch.expanded(arguments[0])
    indices = Indices(batch, arguments[1])
    count = sum(index is not None for index in indices.given)
    put, has_put = batch.in_front(arguments[2])
    rank = indices.rank + arguments[0].ndim - count
    lacking = rank - arguments[2].ndim
    put = put.reshape((*put._shape[:1] * has_put, *[1] * lacking, *put._shape[has_put:]))
    put = put if has_put else put.unsqueeze(0)
    put = _moved(put, 1 + indices.start, 1, indices.rank)
    result = call(operator, [value, indices.with_examples(), put, *arguments[3:]])
    return batch.finished(operator, arguments, result)


def _moved(value: Tensor, source: int, target: int, count: int) -> Tensor:
    """So many dimensions moved from one place to another."""
    if source == target or not count:
        return value
    return value.movedim(list(range(source, source + count)), list(range(target, target + count)))


def embedding(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """Rows of a matrix, which may be one for each example."""
    (weight, has_weight), (indices, has_indices) = (batch.in_front(tensor) for tensor in arguments[:2])
    if not has_weight:
        return batch.around(call(operator, [weight, indices, *arguments[2:]]))
    if not has_indices:
        rows = weight.index_select(1, indices.reshape(-1))
        return batch.around(rows.reshape((batch.size, *indices._shape, weight._shape[2])))
    own = _offset(batch, indices, weight._shape[1])
    return batch.around(call(operator, [weight.reshape((-1, weight._shape[2])), own, *arguments[2:]]))


def embedding_backward(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The gradient of a matrix whose rows were taken, one for each example."""
    grad, indices, rows, padding, by_frequency = arguments
    if by_frequency:
        return one_by_one(batch, operator, arguments)
    grad, indices = batch.expanded(grad), batch.expanded(indices)
    if padding >= 0:
        grad = grad.masked_fill((indices == padding).unsqueeze(-1), 0)
    own = _offset(batch, indices, rows)
    result = call(operator, [grad, own, rows * batch.size, -1, False])
    return batch.around(result.reshape((batch.size, rows, -1)))


def _offset(batch: Batch, indices: Tensor, rows: int) -> Tensor:
    """Positions in the rows of all examples, one after another."""
    numbers = f.arange(batch.size, device=indices.device).reshape((-1, *[1] * (indices.ndim - 1)))
    return indices + numbers * rows


def as_strided_backward(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """The gradient of a view by strides: that of a view whose examples lie one after another."""
    grad, input_size, input_stride, input_offset, size, stride, offset = arguments
    ends = (
        start + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True))
        for start, sizes, steps in ((input_offset, input_size, input_stride), (offset, size, stride))
    )
    apart = max(0, *ends) + 1
    value, count = batch.in_front(grad)[0], batch.size
    own = ([count, *input_size], [apart, *input_stride], input_offset)
    return batch.around(call(operator, [value, *own, [count, *size], [apart, *stride], offset]))


Placed = tuple[Sequence[int], Sequence[int], int]  # sizes, strides and offset


def _check_inside(view: Placed, whole: Placed) -> None:
    """Refuse a view of one example that reaches elements outside of it.

    Mirrors: checkBasicAsStridedValidForSlice in aten/src/ATen/functorch/LegacyBatchingRegistrations.cpp
    """
    if 0 in view[0]:
        return
    place = (
        f"result = tensor.as_strided({list(view[0])}, {list(view[1])}, {view[2]}) can access memory outside of `tensor`"
    )
    advice = (
        "This is not supported inside of vmap, please try to rewrite the `as_strided` call as a sequence of PyTorch "
        "view operations"
    )
    if 0 in whole[0]:
        raise RuntimeError(
            f"{place}. `tensor` has no storage but the passed-in (size, stride, storage_offset) imply a result with "
            f"some storage. {advice}"
        )
    view_end, whole_end = (
        offset + 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
        for sizes, strides, offset in (view, whole)
    )
    if view_end > whole_end or view[2] < whole[2]:
        raise RuntimeError(
            f"{place}. `result` can access some memory in range [{view[2]}, {view_end}], but `tensor` can only access "
            f"some memory in range [{whole[2]}, {whole_end}]. {advice}"
        )


def as_strided(batch: Batch, operator: Operator, arguments: list[Any]) -> Any:
    """A view of each example by strides; RuntimeError where it would leave the example."""
    tensor, sizes, strides, offset = arguments
    value, _ = batch.in_front(tensor)
    apart, *own = value.strides()
    start = value._offset if offset is None else offset
    _check_inside((sizes, strides, start), (value._shape[1:], own, value._offset))
    return batch.around(call(operator, [value, [batch.size, *sizes], [apart, *strides], offset]))
